"""`hbc compile --targets`: one library for several processors, which serves each by the best that it has."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.codegen.build.toolchain import find_compiler

Command = Callable[..., Any]
# The schedule for AVX-512 wants whole pieces; sizes are named like the caller's own variables.
KERNEL = """
kernel shared
size   code, kind
input  A: f32[code, kind]
output O: f32[code, kind]
O[tried, x] = A[tried, x] * 3 + 1
schedule wide for avx512 { O.split(x, xo, xi, 16, tail = exact).vectorize(xi) }
schedule narrow for avx2 { O.vectorize(x, 8) }
"""
MAIN = """
#include "shared.h"
#include <stdio.h>
static float A[2 * 33], O[2 * 33];
int main(void)
{
    for (int i = 0; i < 66; ++i)
        A[i] = (float)i;
    const int code = shared(2, 33, A, O);
    int wrong = 0;
    for (int i = 0; i < 66; ++i)
        wrong += O[i] != (float)(3 * i + 1);
    printf("%d %d %s", code, wrong, shared_target());
    return 0;
}
"""
X86_ONLY = pytest.mark.skipif(platform.machine() != "x86_64", reason="targets of x86-64")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    file = tmp_path / "shared.hb"
    file.write_text(KERNEL, encoding="ascii")
    return file


@X86_ONLY
@pytest.mark.parametrize(
    ("processor", "serves"),
    [
        ("qemu64", "c"),
        ("IvyBridge", "c"),
        ("Haswell", "avx2"),
        ("Haswell,-fma", "c"),
        ("max", "avx2"),
    ],
)
def test_each_processor_has_its_own(
    hbc: Command, kernel: Path, tmp_path: Path, processor: str, serves: str
) -> None:
    """The library is built with the flags of each target apart: nothing of AVX reaches the others."""
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("no qemu-x86_64 here")
    done = hbc(
        "compile",
        kernel,
        "--targets",
        "c,avx512,avx2",
        "-o",
        tmp_path,
        "--emit",
        "a",
        "--emit",
        "c",
    )
    assert done.code == 0, done.err
    assert "tried in this order: avx512, avx2, c" in done.err
    main = tmp_path / "main.c"
    main.write_text(MAIN, encoding="ascii")
    cc = find_compiler().command
    program = tmp_path / "program"
    command = [
        *cc,
        "-O2",
        "-static",
        "-fopenmp",
        str(main),
        str(tmp_path / "shared.a"),
        "-o",
        str(program),
        "-lm",
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    ran = subprocess.run(
        ["qemu-x86_64", "-cpu", processor, str(program)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, f"0 0 {serves}"), ran.stderr


@X86_ONLY
def test_sizes_that_one_does_not_take_go_to_the_next(
    hbc: Command, kernel: Path, tmp_path: Path
) -> None:
    done = hbc("compile", kernel, "--targets", "c,avx512,avx2", "-o", tmp_path, "--emit", "so")
    assert done.code == 0, done.err
    library = ctypes.CDLL(str(tmp_path / "shared.so"))
    library.shared_target.restype = library.shared_strerror.restype = ctypes.c_char_p
    call = library.shared
    random = np.random.default_rng(3)
    for width in (32, 33, 7, 64):
        given = random.standard_normal((5, width), np.float32)
        made = np.full_like(given, np.nan)
        sizes = (ctypes.c_int64(5), ctypes.c_int64(width))
        assert (
            call(
                *sizes, given.ctypes.data_as(ctypes.c_void_p), made.ctypes.data_as(ctypes.c_void_p)
            )
            == 0
        )
        # With or without a fused product.
        np.testing.assert_allclose(made, given * 3 + 1, rtol=3e-7, atol=3e-7)
    assert library.shared_strerror(call(*sizes, None, None)) == b"array `A` is null"
    first = library.shared_target()
    flags = (
        Path("/proc/cpuinfo").read_text(encoding="ascii") if Path("/proc/cpuinfo").exists() else ""
    )
    if "avx512dq" in flags and "avx512vl" in flags:
        assert first == b"avx512", "sizes of which one was passed over do not count against it"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--targets", "c,avx2,c"], "--targets names `c` twice"),
        (["--targets", "c,avx9"], "no target `avx9`"),
        (["--targets", "arm_dot,avx2"], "of different machines"),
        (["--targets", "c,cuda"], "no GPU"),
        (["--targets", "c,avx2", "--target", "c"], "--targets does not go with --target"),
        (["--targets", "c,avx2", "--fallback", "scalar"], "--targets does not go with --fallback"),
        (["--targets", "c,avx2", "--schedule", "narrow"], "one schedule for all"),
        (["--targets", "c,avx2", "--emit", "html"], "no form `html`"),
        (["--targets", "c,avx2", "-o", "-"], "several files"),
    ],
)
def test_what_does_not_go_together(
    hbc: Command, kernel: Path, options: list[str], said: str
) -> None:
    done = hbc("compile", kernel, *options)
    assert done.code == 2, done.err
    assert said in done.err


def test_constant_inputs(hbc: Command, tmp_path: Path) -> None:
    file = tmp_path / "packed.hb"
    text = KERNEL.replace("input  A: f32[code, kind]", "input  A: f32[code, kind] constant")
    file.write_text(text, encoding="ascii")
    done = hbc("compile", file, "--targets", "c,avx2", "-o", tmp_path)
    assert done.code == 2
    assert "constant input `A`" in done.err


def test_the_files_say_how_they_are_built(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    done = hbc("compile", kernel, "--targets", "avx2,c", "-o", tmp_path, "--json")
    assert done.code == 0, done.err
    assert '"targets": ["avx2", "c"]' in " ".join(done.out.split()).replace("[ ", "[").replace(
        " ]", "]"
    )
    text = (tmp_path / "shared.c").read_text(encoding="ascii")
    assert "Link with shared_avx2.c, shared_c.c, each built as it says." in text
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-c"]
    subprocess.run(
        [*find_compiler().command, *strict, "shared.c", "-o", "shared.o"], check=True, cwd=tmp_path
    )
