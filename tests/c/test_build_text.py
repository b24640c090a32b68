"""Pins that the command in the first comment of emitted C builds it, and the CMakeLists.txt beside it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from hbc.cli.commands.compile import command
from hbc.codegen.build.toolchain import find_compiler, has_openmp

KERNEL = """size N
input A: f32[N]
output B: f32[N]
B[i] = sqrt(A[i]) + exp(A[i])
schedule fast for c, avx2 { B.parallel(i) }
"""
MAIN = """#include <stdio.h>
#include "own.h"
int main(void) {
    static float a[64], b[64];
    for (int i = 0; i < 64; ++i) a[i] = (float)i / 64;
    int code = own(64, a, b);
    printf("%d %.3f\\n", code, b[32]);
    return code;
}
"""
SAID = "0 2.356\n"  # sqrt(0.5) + exp(0.5)
PROJECT = """cmake_minimum_required(VERSION 3.13)
project(user LANGUAGES C)
add_subdirectory(own)
add_executable(user main.c)
target_link_libraries(user own)
"""


def emitted(folder: Path, *options: str) -> Path:
    (folder / "own.hb").write_text(KERNEL)
    into = folder / "own"
    arguments = [str(folder / "own.hb"), "--target", "c", "-o", str(into), *options]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return into


def ran(*arguments: str, at: Path) -> str:
    done = subprocess.run(arguments, cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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


def test_cmake_builds_it(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("there is no cmake")
    emitted(tmp_path, "--emit", "cmake")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    ran(cmake, "-S", ".", "-B", "build", at=tmp_path)
    ran(cmake, "--build", "build", at=tmp_path)
    assert ran("build/user", at=tmp_path) == SAID


def test_a_gpu_has_no_cmake(tmp_path: Path) -> None:
    (tmp_path / "own.hb").write_text(KERNEL)
    arguments = [
        str(tmp_path / "own.hb"),
        "--target",
        "cuda",
        "--schedule",
        "none",
        "--emit",
        "cmake",
    ]
    result = CliRunner().invoke(command, [*arguments, "-o", str(tmp_path)])
    assert "has no form `cmake`" in str(result.exception.diagnostics)  # type: ignore[union-attr]
