"""Pins that a compiler is asked for its version once, and again whenever it may say another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hbc.codegen.build import toolchain
from hbc.ir.host.on_path import on_path

SAYS = """#include <stdio.h>
#include <stdlib.h>
int main(void) {{ FILE *log = fopen(getenv("ASKED"), "a"); fputs("asked\\n", log); fclose(log);
    puts("{version}"); return 0; }}
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kept on Linux alone")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A line for each time that one of these compilers was started; none is too young to be believed."""
    log = tmp_path / "asked"
    monkeypatch.setenv("ASKED", str(log))
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "SETTLED_SECONDS", -3600.0)
    return log


def program(path: Path, version: str) -> Path:
    source = path.with_suffix(".c")
    source.write_text(SAYS.format(version=version))
    made = path.with_suffix(".new")
    subprocess.run([*toolchain.find_compiler().command, str(source), "-o", str(made)], check=True)
    made.replace(path)
    return path


def version_of(path: Path) -> str | None:
    """As the next process finds it."""
    toolchain._probe.cache_clear()
    found = toolchain.first_compiler([(str(path),)])
    toolchain._probe.cache_clear()
    return found.version if found is not None else None


def times(log: Path) -> int:
    return len(log.read_text().splitlines())


def test_it_is_asked_once(tmp_path: Path, asked: Path) -> None:
    compiler = program(tmp_path / "my-gcc", "gcc 1.0")
    assert [version_of(compiler) for _ in range(3)] == ["gcc 1.0"] * 3
    assert times(asked) == 1


def test_another_file_of_the_name_is_asked_anew(tmp_path: Path, asked: Path) -> None:
    compiler = program(tmp_path / "clang-9", "clang 1.0")
    seen = compiler.stat()
    assert version_of(compiler) == "clang 1.0"
    program(compiler, "clang 2.0")  # as long, and with the same time
    os.utime(compiler, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert compiler.stat().st_size == seen.st_size
    assert version_of(compiler) == "clang 2.0"
    assert times(asked) == 2


def test_what_starts_another_is_asked_each_time(tmp_path: Path, asked: Path) -> None:
    real = program(tmp_path / "gcc-1", "gcc 1.0")
    script = tmp_path / "gcc"
    script.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    script.chmod(0o700)
    other = Path(shutil.copy(real, tmp_path / "ccache"))
    for compiler in (script, script, other, other):
        assert version_of(compiler) == "gcc 1.0"
    assert times(asked) == 4


def test_a_young_file_is_asked_each_time(
    tmp_path: Path, asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "SETTLED_SECONDS", 3600.0)
    compiler = program(tmp_path / "gcc-1", "gcc 1.0")
    assert [version_of(compiler) for _ in range(2)] == ["gcc 1.0"] * 2
    assert times(asked) == 2


def test_one_that_is_gone_is_missed(tmp_path: Path, asked: Path) -> None:
    compiler = program(tmp_path / "gcc-1", "gcc 1.0")
    assert version_of(compiler) == "gcc 1.0"
    compiler.unlink()
    assert version_of(compiler) is None


@pytest.mark.parametrize(
    "name", ["sh", "no-such-program", "/bin/sh", "/bin/no-such-program", "/etc/passwd"]
)
def test_programs_are_found_as_shutil_finds_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (os.environ["PATH"], "/no/such:/bin", ""):
        monkeypatch.setenv("PATH", path)
        assert on_path(name) == shutil.which(name)
