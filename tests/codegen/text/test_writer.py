"""Lines of C: long preprocessor lines go on behind backslashes, and the compiler reads them as one."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from hbc.codegen.text.writer import WIDTH, Writer

CONDITION = " && ".join(f"defined(A_LONG_NAME_OF_A_MACRO_{i})" for i in range(8))


def test_a_short_directive_is_one_line() -> None:
    out = Writer()
    out.directive("#pragma omp for")
    assert out.text() == "#pragma omp for\n"


def test_a_long_directive_is_continued() -> None:
    out = Writer()
    out.depth = 1
    out.directive(f"#if {CONDITION}")
    first, *others = out.text().splitlines()
    assert others
    assert all(len(line) <= WIDTH for line in (first, *others))
    assert all(line.endswith(" \\") for line in (first, *others[:-1]))
    assert len(out.lines) == 1


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("defined", [7, 8])
def test_the_compiler_reads_one_condition(defined: int) -> None:
    out = Writer()
    out.directive(f"#if {CONDITION}")
    out.raw("all\n#else\nnot_all\n#endif")
    names = [f"-DA_LONG_NAME_OF_A_MACRO_{i}" for i in range(defined)]
    read = subprocess.run(
        ["gcc", "-E", "-P", *names, "-"],
        input=out.text(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stdout.split() == ["all" if defined == 8 else "not_all"]
