"""Pins that the command in the first comment of emitted C builds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from suite_bindings import MAIN, SAID, emitted, ran

from hbc.codegen.build.toolchain import find_compiler, has_openmp


@pytest.mark.parametrize("threads", [True, False])
def test_the_command_builds_it(tmp_path: Path, threads: bool) -> None:
    compiler = find_compiler()
    if threads and not has_openmp(compiler):
        pytest.skip(f"{compiler} has no OpenMP")
    folder = emitted(tmp_path)
    text = (folder / "own.c").read_text()
    first = text[: text.index("*/")]
    assert "yours, without conditions" in first
    assert "without it one thread does all the work" in first
    assert "yours, without conditions" in (folder / "own.h").read_text()
    joined = first.replace(" \\\n *", "")
    found = re.search(r"^ \* Build: cc (.*)$", joined, re.MULTILINE)
    assert found
    options = [o for o in found[1].split() if threads or o != "-fopenmp"]
    link = ["-fopenmp"] if threads else []
    (folder / "main.c").write_text(MAIN)
    ran(*compiler.command, "-Wall", "-Werror", *options, at=folder)
    ran(*compiler.command, "main.c", "own.o", *link, "-lm", "-o", "main", at=folder)
    assert ran("./main", at=folder) == SAID


def test_flags_of_the_target_are_named(tmp_path: Path) -> None:
    folder = emitted(tmp_path, "--target", "avx2")
    first = (folder / "own.c").read_text().partition("*/")[0]
    assert "-mavx2 -mfma" in first.replace(" \\\n *  ", "")
