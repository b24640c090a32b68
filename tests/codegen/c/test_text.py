"""The text: no warnings, the same bytes in every process, comments that name schedule lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from compiled import STRICT, emitted
from compilers import compiler_named
from lanes import finish
from suite_tables import WHOLE

from hbc.codegen.build.toolchain import build, flags
from hbc.codegen.c.source import CSource
from hbc.ir.lang.build import const
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import Allocate, Block, For, Load, LoopKind, Store, Var, const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.target import TARGETS, X86
from hbc.ir.lang.types import F32, Memory

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
GENERAL = [n for n, t in TARGETS.items() if t.machine in ("", X86) and not t.instruction_sets]
NAMES = sorted(p.relative_to(SAMPLES).as_posix() for p in SAMPLES.rglob("*.hb"))
PRINTED = {name: GENERAL if WHOLE else [GENERAL[n % len(GENERAL)]] for n, name in enumerate(NAMES)}
"""The targets that each sample is printed for: one in turn, or all with HBC_TEST_TABLES=whole."""
WIDTH = 100  # columns


@cache
def sample(name: str, target: str) -> CSource:
    return emitted((SAMPLES / name).read_text(), target, name)


@pytest.mark.parametrize("target", GENERAL)
def test_samples_give_no_warning_with_clang(target: str, tmp_path: Path) -> None:
    """Nor with gcc, which tests/samples asks when it builds all of them to run."""
    compiler = compiler_named("clang")
    for name in (name for name in NAMES if target in PRINTED[name]):
        source = sample(name, target)
        path = tmp_path / f"{source.name}.c"
        path.write_text(source.text)
        path.with_suffix(".h").write_text(source.header)
        options = flags(source, TARGETS[target], compiler)
        subprocess.run([*compiler.command, *options, *STRICT, "-fsyntax-only", path], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_short_and_clean(name: str) -> None:
    for target in PRINTED[name]:
        source = sample(name, target)
        for line in (source.text + source.header).splitlines():
            assert len(line) <= WIDTH or '"' in line, line
            assert line == line.rstrip()
            assert "\t" not in line
        assert "\n\n\n" not in source.text


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Python hashes text differently in each; no order may come from that."""
    for seed in "01":
        subprocess.run(
            [sys.executable, "-m", "hbc.cli.main", "compile", str(SAMPLES / "resize.hb"),
             "--target", "avx512", "-o", str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True,
        )  # fmt: skip
    first, second = (sorted((tmp_path / seed).iterdir()) for seed in "01")
    assert [p.name for p in first] == ["resize.c", "resize.h"]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_every_scheduled_loop_names_its_line() -> None:
    source = emitted(
        """
        kernel named
        size   H, W
        input  A: f32[H, W]
        output O: f32[H, W]
        t[y, x] = A[y, x] + 1
        O[y, x] = t[y, x] * 2
        schedule s for c {
            O.split(y, yo, yi, 4).parallel(yo).unroll(x, 2)
            t.compute_at(O, yi).split(x, xo, xi, 8, tail = guard)
        }
        """
    )
    text = source.text
    assert "// O.parallel(yo)" in text
    assert "// O.split(y, yo, yi, 4)" in text
    assert "// O.unroll(x, 2)" in text
    assert "// t.compute_at(O, yi)" in text
    assert "// t.split(x, xo, xi, 8, tail = guard)" in text


@pytest.mark.parametrize("name", NAMES)
def test_helpers_and_includes_are_used(name: str) -> None:
    for target in PRINTED[name]:
        text = sample(name, target).text
        for function in re.findall(r"^static (?!const _Alignas).*?(\w+)\(", text, re.MULTILINE):
            assert len(re.findall(rf"\b{function}\(", text)) > 1, function
        # Scalar conversions of halves are intrinsics too.
        uses = {"stdlib": r"\bfree\(", "string": r"\bmemcpy\(", "immintrin": r"\b_(mm|cvt)"}
        for header, use in uses.items():
            used = re.search(use, text) is not None
            assert (f"#include <{header}.h>" in text) == used, header


def test_kernels_without_inputs_or_with_buffers_that_nobody_reads(tmp_path: Path) -> None:
    """Once printed with an unused function, and with an array that was only written."""
    source = emitted("size W\noutput O: bool[W]\nO[n] = n < 3")
    build(source, TARGETS["c"], tmp_path / "k.o", "obj", extra=STRICT)
    assert "overlap" not in source.text
    unread = Store("t", Var("i"), const(1, F32))
    loop = For("i", const_index(0), const_index(6), LoopKind.SERIAL, unread)
    stored = Store("O", const_index(0), const(2, F32))
    body = Allocate("t", F32, const_index(6), Memory.STACK, Block((loop, stored)))
    kernel = Kernel("k", (), (Argument("O", F32, (const_index(6),), True),), (), (), body)
    source = finish(kernel, "c")
    build(source, TARGETS["c"], tmp_path / "k.o", "obj", extra=STRICT)
    assert "for (" not in source.text.partition("k_compute")[2].partition("k_strided")[0]


@pytest.mark.parametrize(
    ("of_load", "printed"),
    [
        ("n < W", "O[0] = X[0];"),  # it is what the store asks
        ("n < 5", "O[0] = X[0];"),  # a part of it
        ("n < 4", "O[0] = n < 4 ? X[0] : 0.0f;"),
        ("(n < W) & (n < 5) & (n < 4)", "? X[0] : 0.0f;"),
    ],
)
def test_a_condition_is_not_asked_again(of_load: str, printed: str) -> None:
    """Loads below a store's condition."""
    row = (read_expr("W"),)
    mask, known = read_expr("(n < W) & (n < 5)"), read_expr(of_load)
    stored = Store("O", const_index(0), Load("X", const_index(0), F32(), known), mask)
    loop = For("n", const_index(0), const_index(6), LoopKind.SERIAL, stored)
    arguments = (Argument("X", F32, row, False), Argument("O", F32, row, True))
    text = finish(Kernel("k", (Size("W"),), arguments, (), (), loop), "c").text
    assert printed in text


def test_messages_show_what_is_there_in_comments() -> None:
    """Those of conditions are the user's, or somebody else's."""
    message = "a */ \u202e\u2066 \x1b[31m \x7f b"
    text = f'size N\noutput O: f32[N]\nrequire 1 <= N, "{message}"\nO[x] = 1\n'
    made = emitted(text)
    for part in (made.text, made.header):
        assert all(character.isprintable() or character == "\n" for character in part)
    assert r"/* a * / \u202e\u2066 \x1b[31m \x7f b */" in made.header
