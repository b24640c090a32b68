"""Sources that no one writes by hand end in a diagnostic, soon, and never in a RecursionError."""

import time

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.text.giants import DEEPEST_NESTING, LARGEST_SOURCE
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

HEAD = "size N\ninput A: f32[N]\noutput B: f32[N]\n"
SECONDS = 60  # of the processor; about 3 are taken


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "B[i] = " + "A[i] + " * 2_000_000 + "1\n", "reads at most"),
        ("#" * 10_000_000, "reads at most"),
        (HEAD + "B[i] = " + "(" * 10_000 + "A[i]" + ")" * 10_000, "nest deeper"),
        (HEAD + "B[i] = " + "A[" * 10_000, "nest deeper"),
        (HEAD + "schedule s for c " + "{" * 10_000, "nest deeper"),
        (HEAD + "B[i] = " + "a + " * 100_000 + "1\n", "nests deeper"),
        (HEAD + "B[i] = " + "-" * 100_000 + "A[i]\n", "nests deeper"),
        (HEAD + "B[i] = " + "not " * 100_000 + "true\n", "nests deeper"),
        (HEAD + "B[i] = " + "let t = 1 in " * 10_000 + "t\n", "nests deeper"),
        (HEAD + "B[i] = A[i))\n" * 10_000, "expected"),
        (HEAD + "x y z\n" * 10_000, "begins no statement"),
        ("(" * 10_000, "nest deeper"),
        (")" * 10_000, "expected"),
        ("\0" * 1000, "has no meaning"),
        ("size " + "N" * 100_000 + ", M M", "missing before"),
    ],
)  # fmt: skip
def test_giants_are_refused(text: str, message: str) -> None:
    began = time.process_time()
    with pytest.raises(HbcError) as raised:
        parse(Source("giant.hb", text))
    assert message in raised.value.diagnostics[0].message
    assert len(raised.value.diagnostics) <= 21
    assert time.process_time() - began < SECONDS


def test_the_largest_source_parses() -> None:
    line = "f[x] = A[x] * 2 + B[x, 1] # comment\n"
    began = time.process_time()
    parse(Source("large.hb", line * (LARGEST_SOURCE // len(line))))
    assert time.process_time() - began < SECONDS


def test_the_deepest_expression_is_checked() -> None:
    terms = DEEPEST_NESTING - 10
    for value in (
        " + ".join(["A[i]"] * terms),
        "(" * terms + "A[i]" + ")" * terms,
        "-" * terms + "A[i]",
        "abs(" * (terms // 2) + "A[i]" + ")" * (terms // 2),
        "select(A[i] > 0, 1, " * (terms // 2) + "0" + ")" * (terms // 2),
    ):
        p = check(parse(Source("deep.hb", HEAD + f"B[i] = {value}\n")), {})
        assert p.func("B").element.name == "f32"
