"""A text parsed where it differs from one of before has the trees, places and mistakes of the whole text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbc.frontend.text import ast
from hbc.frontend.text.changes import parse_changed
from hbc.frontend.text.grammar import load_parser
from hbc.frontend.text.parse import parse
from hbc.frontend.text.walk import nodes
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

SAMPLES = Path(__file__).parents[3] / "samples"
OWN = """hbc 1
def twice(a) = a + a  # of one
kernel first {
size N; input A: f32[N]; output C: f32[N]
(m[x], s[x]) = (A[x], 0); (m[x], s[x]) = (m[x] + 1, s[x])
C[x] = twice(m[x]) + s[x]
}
kernel second {
size N
input A: u8[N] constant
output C: u8[N]
for l in 1 .. 3 { g[l][x] = A[x] }
constant[x] = g[1][x]
C[x] = constant[x]
schedule one for c, avx2 where N > 8 { C.unroll(x, 4).vectorize(x, 8) }
example { N = 8; A = random(1) }
}
import "x.hb"
"""
TEXTS = [OWN, *((SAMPLES / name).read_text(encoding="utf-8") for name in (
    "cuda/attention_fused.hb", "cuda/resize.hb", "apps/lens_blur.hb", "gemm_f32.hb", "apps/fft.hb",
))]  # fmt: skip
WRITTEN = st.sampled_from([
    "", " ", "\n", "#", "# ", "(", ")", "[", "]", "{", "}", "=", "+=", " + ", "-", ";", ",", ".", "..", ":",
    "x", "1", "in ", "hbc 1 ", "for ", "schedule ", "kernel k ", "kernel k {", "where ", " constant", "let ",
    "C[x] = 1\n", "(p[x], q[x]) = (1, 2)\n", " < 1 < 2", "def f(x) = x ", '"', "example {", "size ", "\t",
    "min", "0x", "1_0", "~", "not ", "while ",
])  # fmt: skip


@st.composite
def _edited(draw: st.DrawFn) -> tuple[str, str]:
    """A text that parses, and one after an edit or two."""
    text = new = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(new)))
        cut = draw(st.sampled_from([0, 0, 0, 1, 2, 5, 40, 400]))
        new = new[:start] + draw(WRITTEN) + new[start + cut :]
    return text, new


def _said(source: Source, before: ast.File | None) -> list[object]:
    """All that a tree says, and where; or the mistakes."""
    try:
        file = parse(source, before)
    except HbcError as failure:
        return [d.render() for d in failure.diagnostics]
    return [file.source is source, *_places(file, source)]


def _places(file: ast.File, source: Source) -> Iterator[object]:
    yield repr(file)
    for node in nodes(*file.statements):
        span = getattr(node, "span", None)
        if span is not None:
            assert span.source is source
            yield type(node), span.start, span.end


@given(_edited())
@settings(max_examples=100, deadline=None)
def test_what_changed_is_parsed_as_the_whole_is(edit: tuple[str, str]) -> None:
    text, new = edit
    before = parse(Source("own.hb", text))
    source = Source("own.hb", new)
    assert _said(source, before) == _said(source, None)


@pytest.mark.parametrize("at", ["# Tensor cores", "O.gpu_blocks(io, b)", "total[b, i] "])
def test_the_other_statements_are_not_parsed(at: str) -> None:
    text = TEXTS[1]
    before = parse(Source("own.hb", text))
    new = text.replace(at, f"{at}  ", 1)
    assert parse(Source("own.hb", new), before) == before
    kept, tree, behind = parse_changed(load_parser(), new, before)
    parsed = [child for child in tree.children if not isinstance(child, str)]
    assert len(parsed) <= 2
    assert len(kept.statements) + len(parsed) + len(behind.statements) == len(before.statements)
