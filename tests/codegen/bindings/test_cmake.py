"""Pins that the CMakeLists.txt beside emitted C builds it, and hbc_add_kernel() of the installed module."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from suite_bindings import KERNEL, MAIN, SAID, emitted, ran

from hbc.cli.commands.compile import command
from hbc.cli.main import commands

PROJECT = """cmake_minimum_required(VERSION 3.13)
project(user LANGUAGES C)
add_subdirectory(own)
add_executable(user main.c)
target_link_libraries(user own)
"""
MODULE = """cmake_minimum_required(VERSION 3.13)
project(user LANGUAGES C)
find_package(hbc REQUIRED)
hbc_add_kernel(own KERNEL own.hb TARGET c SCHEDULE fast)
add_executable(user main.c)
target_link_libraries(user own)
"""


@pytest.fixture
def cmake() -> str:
    found = shutil.which("cmake")
    if found is None:
        pytest.skip("there is no cmake")
    return found


def test_cmake_builds_it(cmake: str, tmp_path: Path) -> None:
    emitted(tmp_path, "--emit", "cmake")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    ran(cmake, "-S", ".", "-B", "build", at=tmp_path)
    ran(cmake, "--build", "build", at=tmp_path)
    assert ran("build/user", at=tmp_path) == SAID


def test_the_installed_module(cmake: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(commands, ["--cmake-dir"])
    assert shown.exit_code == 0
    (tmp_path / "own.hb").write_text(KERNEL)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(MODULE)
    hbc = tmp_path / "hbc"
    hbc.write_text(f'#!/bin/sh\nexec {sys.executable} -m hbc.cli.main "$@"\n')
    hbc.chmod(0o755)
    options = [f"-Dhbc_DIR={shown.stdout.strip()}", f"-DHBC_EXECUTABLE={hbc}"]
    ran(cmake, "-S", ".", "-B", "build", *options, at=tmp_path)
    ran(cmake, "--build", "build", at=tmp_path)
    assert ran("build/user", at=tmp_path) == SAID
    # The file changes: the next build compiles the kernel again.
    (tmp_path / "own.hb").write_text(KERNEL.replace("sqrt(A[i])", "2 * sqrt(A[i])"))
    ran(cmake, "--build", "build", at=tmp_path)
    assert ran("build/user", at=tmp_path) == "0 3.063\n"  # 2 sqrt(0.5) + exp(0.5)


def test_a_mistake_of_the_kernel_is_shown(cmake: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(commands, ["--cmake-dir"])
    (tmp_path / "own.hb").write_text(KERNEL.replace("sqrt(A[i])", "sqrt(Z[i])"))
    (tmp_path / "CMakeLists.txt").write_text(MODULE)
    hbc = tmp_path / "hbc"
    hbc.write_text(f'#!/bin/sh\nexec {sys.executable} -m hbc.cli.main "$@"\n')
    hbc.chmod(0o755)
    done = subprocess.run(
        [cmake, "-S", ".", "-B", "build", f"-Dhbc_DIR={shown.stdout.strip()}",
         f"-DHBC_EXECUTABLE={hbc}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Z" in done.stderr and "own.hb:4:" in done.stderr


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
