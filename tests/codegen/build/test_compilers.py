"""Which C compiler is called and how: CC, gcc, clang, ziglang, none at all; threads of OpenMP."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from compiled import emitted
from compilers import compiler_named

from hbc.codegen.build import run_tool as running
from hbc.codegen.build import toolchain
from hbc.codegen.build.run_tool import run_tool
from hbc.codegen.build.toolchain import (
    Compiler,
    all_compilers,
    build,
    cache_folder,
    find_compiler,
    flags,
    has_openmp,
    kept_library,
)
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.lang.target import TARGETS

ROOT = Path(__file__).resolve().parents[3]
COPY = ROOT / "samples" / "tutorial" / "01_copy.hb"
TEXT = """
kernel rows
size   H, W
input  A: f32[H, W]
output O: f32[H, W]
O[y, x] = exp(A[y, x])
schedule s for c, avx2, avx512 { O.parallel(y).vectorize(x, 8) }
"""
# Calls the kernel and says how many threads the process has then; without NumPy, which has its own.
CALL = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
data = (ctypes.c_float * 6400)()
result = (ctypes.c_float * 6400)()
size = ctypes.c_int64(80)
assert library.rows(size, size, data, result) == 0
assert list(result) == [1.0] * 6400
print(len(os.listdir("/proc/self/task")))
"""


def hbc(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process with these environment variables besides, empty ones removed."""
    environment = {n: v for n, v in {**os.environ, **variables}.items() if v or n == "PATH"}
    return subprocess.run(
        [sys.executable, "-m", "hbc.cli.main", *arguments],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(find_spec("ziglang") is not None, reason="ziglang is installed: a compiler")
def test_without_a_compiler(tmp_path: Path) -> None:
    """One line that says what to install, and the exit code for missing tools."""
    answer = hbc("run", str(COPY), PATH="", CC="", HBC_CACHE=str(tmp_path))
    assert answer.returncode == 4
    assert answer.stdout == ""
    said = [line for line in answer.stderr.splitlines() if not line.startswith("note: ")]
    assert len(said) == 1
    assert "install gcc or clang, or `pip install 'hbc[zig]'`" in answer.stderr


def test_a_compiler_that_cc_names_but_does_not_run(tmp_path: Path) -> None:
    answer = hbc("run", str(COPY), CC="no-such-cc -O9", HBC_CACHE=str(tmp_path))
    assert answer.returncode == 4
    assert "`no-such-cc -O9`, named by CC" in answer.stderr


def test_cc_is_called_with_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CC may have options, and wins over what is found on the PATH."""
    real = compiler_named("gcc").command[0]
    log, wrapper = tmp_path / "calls", tmp_path / "my cc"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >>"{log}"\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", f"'{wrapper}' -DMINE=1")
    found = find_compiler()
    assert found.command == (str(wrapper), "-DMINE=1")
    assert found.kind == "gcc"
    build(emitted(TEXT), TARGETS["c"], tmp_path / "k.so")
    assert all(line.startswith("-DMINE=1") for line in log.read_text().splitlines())


@pytest.mark.parametrize("compiler", all_compilers(), ids=lambda c: c.command[0])
def test_every_compiler_of_this_machine(compiler: Compiler, tmp_path: Path) -> None:
    for target in TARGETS.values():
        if target.machine not in ("", platform.machine()):
            continue
        build(emitted(TEXT, target.name), target, tmp_path / "k.o", "obj", compiler=compiler)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("command", ["gcc", "clang"])
def test_as_many_threads_as_the_environment_says(command: str, tmp_path: Path) -> None:
    compiler = compiler_named(command)
    source = emitted(TEXT)
    library = build(source, TARGETS["c"], tmp_path / "k.so", compiler=compiler)
    openmp = has_openmp(compiler)
    assert ("-fopenmp" in flags(source, TARGETS["c"], compiler)) == openmp
    for threads in (1, 3):
        answer = subprocess.run(
            [sys.executable, "-c", CALL, str(library)],
            env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert int(answer.stdout) == (threads if openmp else 1)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the compiler")
def test_openmp_is_asked_for_again_without_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, wrapper, log = tmp_path / "libgomp.so", tmp_path / "gcc", tmp_path / "log"
    real = compiler_named("gcc")
    if not has_openmp(real):
        pytest.skip("needs gcc's OpenMP")
    library.write_bytes(b"")
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *print-file-name*) echo {library}; exit;; esac\n'
        f'echo "$@" >>{log}\nexec gcc "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    compiler = Compiler((str(wrapper),), "gcc", real.version)

    def compiles() -> int:
        has_openmp.cache_clear()
        log.write_text("")
        assert has_openmp(compiler)
        return log.read_text().count("-fopenmp")

    assert [compiles(), compiles()] == [1, 0]
    library.unlink()
    assert [compiles(), compiles()] == [1, 1]
    has_openmp.cache_clear()


def test_a_folder_that_cannot_hold_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "file" / "cache"))
    folder = cache_folder()
    assert folder.is_dir() and folder == cache_folder()
    made = kept_library("k.so", lambda out: out.write_bytes(b"library"))
    assert made.read_bytes() == b"library" and made.parent == folder


@pytest.mark.parametrize("full", [True, False])
def test_a_cache_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """What fails for another reason than the folder fails once."""
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    tried: list[Path] = []

    def make(out: Path) -> None:
        tried.append(out)
        if out.parent == tmp_path:
            raise ToolError(Diagnostic("ld: No space left on device"))
        out.write_bytes(b"library")

    if full:
        real = tempfile.TemporaryFile

        def no_room(**given: Any) -> Any:
            if given["dir"] == tmp_path:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(**given)

        monkeypatch.setattr(tempfile, "TemporaryFile", no_room)
        assert kept_library("full.so", make).read_bytes() == b"library"
    else:
        with pytest.raises(ToolError, match="No space left"):
            kept_library("other.so", make)
    assert len(tried) == 1 + full


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_folder_of_a_process_outlives_its_forks(tmp_path: Path) -> None:
    program = """
import os, sys
from hbc.codegen.build.toolchain import cache_folder
folder = cache_folder()
child = os.fork()
if child == 0:
    assert cache_folder() != folder
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert folder.is_dir()
print(folder)
"""
    (tmp_path / "file").write_text("")
    environment = os.environ | {"HBC_CACHE": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_no_archiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = compiler_named("gcc")
    source = emitted(TEXT)
    monkeypatch.setattr(toolchain, "on_path", lambda name: None)
    with pytest.raises(ToolError, match="install binutils"):
        build(source, TARGETS["c"], tmp_path / "k.a", "a", compiler=compiler)
    assert list(tmp_path.iterdir()) == []


def test_a_tool_that_python_runs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """zig is: its first program for a system takes minutes, and was called `python3`."""
    (tmp_path / "ziglang.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"-m ziglang` took longer than 0\.5 s") as failure:
        run_tool([sys.executable, "-m", "ziglang", "cc", "x.c"], 0.5)
    assert "run it again" in str(failure.value.diagnostics[0].hint)
    monkeypatch.setattr(running, "TIMEOUT", 0.3)
    monkeypatch.setattr(running, "FIRST_TIMEOUT", 0.6)
    with pytest.raises(ToolError, match=r"ziglang` took longer than 0\.6 s"):
        run_tool([sys.executable, "-m", "ziglang", "cc", "x.c"])
    with pytest.raises(ToolError, match=r"took longer than 0\.3 s"):
        run_tool([sys.executable, str(tmp_path / "ziglang.py")])
