"""Pins that code for every target but `c` asks the processor before it writes: on processors that lack
something it returns an error code with the array untouched, and no instruction of the file kills it."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from compiled import STRICT
from compilers import compiler_named

from hbc.cli.pipeline import features_of
from hbc.cli.prepare import choose, compile_chosen
from hbc.codegen.build.toolchain import build, has_openmp
from hbc.codegen.c.source import CSource
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS, X86

# Half precision, a buffer on the heap, threads, masks and a function of libm: what a file has of its own
# besides the loops.
KERNEL = """
kernel probed
size   N
input  A: f16[N + 2]
output O: f32[N]
S[x] = exp(f32(A[x]) * 0.0) + f32(A[x])
O[x] = S[x] + S[x + 2]
schedule wide for avx2, avx512 {
    O.split(x, xo, xi, 48)
    O.parallel(xo)
    O.vectorize(xi, 16)
    S.compute_at(O, xo)
    S.vectorize(x, 16)
}
"""
MAIN = """
#include "probed.h"
#include <stdio.h>
static uint16_t A[102];
static float O[100];
int main(void)
{
    for (int i = 0; i < 102; ++i)
        A[i] = 0x4000;  /* 2 */
    for (int i = 0; i < 100; ++i)
        O[i] = -1;
    const int code = probed(100, A, O);
    float least = O[0], most = O[0];
    for (int i = 0; i < 100; ++i) {
        least = O[i] < least ? O[i] : least;
        most = O[i] > most ? O[i] : most;
    }
    printf("%g %g %s", least, most, probed_strerror(code));
    return code != 0;
}
"""
RIGHT = (0, "6 6 no error")
# What the models of qemu have, from the manuals; none has AVX-512, which qemu does not execute.
LACKING = {
    ("avx2", "qemu64"): "avx2",
    ("avx2", "Nehalem"): "avx2",
    ("avx2", "IvyBridge"): "avx2",
    ("avx2", "Haswell"): None,
    ("avx2", "EPYC-Rome"): None,
    ("avx2", "Haswell,-fma"): "fma",
    ("avx2", "Haswell,-f16c"): "f16c",
    ("avx2", "Haswell,-bmi2"): "bmi2",
    ("avx2", "Haswell,-xsave"): "avx2",  # the system saves no registers of 256 bits
    ("avx2", "Haswell,-bmi1,-abm,-movbe"): None,  # the compiler may not use those
    ("avx512", "qemu64"): "fma",
    ("avx512", "Haswell"): "avx512f",
    ("avx512", "max"): "avx512f",
}


@cache
def printed(target: str, fallback: str) -> CSource:
    file = Source("probed.hb", KERNEL)
    source = compile_chosen(choose(file, {}, target, None, fallback=fallback)).source
    assert isinstance(source, CSource)
    return source


Build = Callable[[str, str, str], Path]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Makes a program with the kernel, once, from target, fallback and compiler. Only the kernel's file is
    compiled with the target's options."""

    @cache
    def made(target: str, fallback: str, name: str) -> Path:
        source, compiler = printed(target, fallback), compiler_named(name)
        folder = tmp_path_factory.mktemp("program")
        (folder / "main.c").write_text(MAIN, encoding="ascii")
        (folder / "probed.h").write_text(source.header, encoding="ascii")
        kernel, out = folder / "probed.o", folder / "main"
        build(source, TARGETS[target], kernel, "obj", compiler=compiler, extra=STRICT)
        threads = ["-fopenmp"] if source.parallel and has_openmp(compiler) else []
        files = [str(folder / "main.c"), str(kernel)]
        subprocess.run([*compiler.command, *files, *threads, "-lm", "-o", str(out)], check=True)
        return out

    return made


def said(made: Callable[[], Path], processor: str) -> tuple[int, str]:
    """The exit code of a program, negative for a signal, and what it printed."""
    if platform.machine() != "x86_64":
        pytest.skip("the programs are made for x86-64")
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("no qemu-x86_64")
    # Its stack is always the same: where a name of the environment crosses a page, the C library's own
    # `memchr` comes to `sarx`, which qemu 7.2 wants bmi1 for (a SIGILL in one run of some hundred).
    done = subprocess.run(
        [emulator, "-cpu", processor, "./main"],
        capture_output=True, text=True, check=False, cwd=made().parent, env={},
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("target", "processor"), LACKING)
def test_an_error_code_and_no_signal(
    target: str, processor: str, compiler: str, program: Build
) -> None:
    missing = LACKING[target, processor]
    answer = (1, f"-1 -1 this processor has no {missing}, or the system does not permit it")
    ran = said(lambda: program(target, "error", compiler), processor)
    assert ran == (answer if missing else RIGHT)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_plain_loops_where_wanted(target: str, compiler: str, program: Build) -> None:
    assert said(lambda: program(target, "scalar", compiler), "qemu64") == RIGHT


@pytest.mark.parametrize("target", [n for n, t in TARGETS.items() if t.machine == X86])
def test_the_compiler_uses_what_is_asked_for_alone(target: str) -> None:
    """The options are those of the features in the header, one by one; `c` asks for nothing."""
    asked = features_of(TARGETS[target])
    assert {f.flag for f in asked} == set(TARGETS[target].flags)
    header = printed(target, "error").header
    assert all(f"probed_FEATURE_{f.name} = " in header for f in asked)
    assert "FEATURE" not in printed("c", "error").header
