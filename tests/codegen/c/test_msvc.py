"""Pins that C for x86 asks Microsoft's compiler for nothing that only gcc and clang have. It is not here:
clang takes its place, by its rules and headers, without saying who it is. Casts of vectors pass there."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.prepare import choose, compile_chosen
from hbc.codegen.build.processor import can_run
from hbc.codegen.build.toolchain import Compiler, flags
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import TARGETS, X86

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
NO_CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="no clang here")
PRETENDED = ("-D_MSC_VER=1938", "-U__clang__")
MICROSOFT = (
    "--target=x86_64-pc-windows-msvc",
    "-fms-compatibility",
    "-fms-extensions",
    "-U__GNUC__",
)
ONE = "acos asin atan ceil cos exp exp2 fabs floor log rint round sin sqrt tan tanh"
# As much of Microsoft's headers as emitted C and clang's own <intrin.h> need.
HEADERS = {
    "setjmp.h": "typedef int jmp_buf[16];",
    "stdlib.h": "void free(void *);",
    "malloc.h": "void *_aligned_malloc(unsigned long long, unsigned long long); void _aligned_free(void *);",
    "string.h": "void *memcpy(void *, const void *, unsigned long long);"
    "void *memset(void *, int, unsigned long long);",
    "math.h": "".join(f"double {f}(double); float {f}f(float);" for f in ONE.split())
    + "double fma(double, double, double); float fmaf(float, float, float);"
    "double copysign(double, double); float copysignf(float, float);"
    "double fmod(double, double); float fmodf(float, float);"
    "\n#define NAN (0.0f / 0.0f)\n#define INFINITY (1e300f * 1e300f)",
}
# What that compiler has built in, by what clang has.
INTRIN = """
#include <immintrin.h>
#undef _xgetbv
#undef _cvtss_sh
#undef __clang__
#define _MSC_VER 1938
static inline void __cpuidex(int r[4], int leaf, int subleaf)
{
    __asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(subleaf));
}
static inline void __cpuid(int r[4], int leaf) { __cpuidex(r, leaf, 0); }
static inline unsigned long long asked(unsigned n)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(n));
    return low | (unsigned long long)high << 32;
}
#define _xgetbv asked
#define _InterlockedExchange(p, v) __atomic_exchange_n((int *)(p), v, 0)
#define __popcnt64(x) __builtin_popcountl(x)
"""
# A buffer on the heap, sums, f16 one by one and in vectors.
KERNEL = """
size   N
input  A: f16[N + 2]
output O: f32[N]
output P: f16[N]
S[x] = f32(A[x]) * 2.0
O[x] = S[x] + S[x + 2]
P[x] = f16(O[x])
schedule wide for c, avx2, avx512 {
    S.compute_root()
    O.vectorize(x, 8)
}
"""


def written(kernel: Path, target: str, folder: Path) -> tuple[CSource, list[str]]:
    """The C in the folder, with what clang must be told to know its instructions."""
    source = compile_chosen(choose(kernel, {}, target, None, fallback="error")).source
    assert isinstance(source, CSource)
    (folder / f"{source.name}.c").write_text(source.text, encoding="ascii")
    (folder / f"{source.name}.h").write_text(source.header, encoding="ascii")
    options = flags(source, TARGETS[target], Compiler(("clang",), "clang", "clang"))
    return source, [o for o in options if o.startswith(("-m", "-std"))]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.hb"
    file.write_text(KERNEL, encoding="ascii")
    return file


@NO_CLANG
@pytest.mark.parametrize(
    "target", [n for n, t in TARGETS.items() if t.machine in ("", X86) and n != "amx"]
)
@pytest.mark.parametrize("name", ["small", "gemm_u8s8", "gemm_bf16"])
def test_nothing_is_asked_that_it_has_not(
    name: str, target: str, small: Path, tmp_path: Path
) -> None:
    kernel = small if name == "small" else SAMPLES / f"{name}.hb"
    source, options = written(kernel, target, tmp_path)
    headers = tmp_path / "headers"
    headers.mkdir()
    for file, text in HEADERS.items():
        (headers / file).write_text(f"{text}\n", encoding="ascii")
    command = ["clang", *MICROSOFT, *PRETENDED, *options, f"{source.name}.c"]
    strict = ["-Werror=implicit-function-declaration", "-fsyntax-only", "-isystem", str(headers)]
    subprocess.run([*command, *strict], cwd=tmp_path, check=True)
    for file in ("immintrin.h", "intrin.h"):  # their macros are not ours
        (headers / file).write_text("", encoding="ascii")
    seen = subprocess.run(
        [*command, "-E", "-P", "-isystem", str(headers)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert source.name in seen
    assert re.findall(r"__asm__|__attribute__|__atomic_\w+|__builtin_(?!ms_)\w+", seen) == []


@NO_CLANG
@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_what_it_has_instead_means_the_same(target: str, small: Path, tmp_path: Path) -> None:
    """The processor is asked, and halves are converted, by the functions that it has instead."""
    if not can_run(TARGETS[target]):
        pytest.skip(f"this processor has no {target}")
    source, options = written(small, target, tmp_path)
    (tmp_path / "has.h").write_text(INTRIN, encoding="ascii")
    (tmp_path / "intrin.h").write_text("", encoding="ascii")
    library = tmp_path / "small.so"
    command = ["clang", *options, "-O1", "-I.", "-include", "has.h", f"{source.name}.c"]
    subprocess.run(
        [*command, "-shared", "-fPIC", "-lm", "-o", str(library)], cwd=tmp_path, check=True
    )
    n = 37
    a = np.random.default_rng(1).standard_normal(n + 2).astype(np.float16)
    o, p = np.empty(n, np.float32), np.empty(n, np.float16)
    code = ctypes.CDLL(str(library)).small(
        ctypes.c_int64(n), *(ctypes.c_void_p(x.ctypes.data) for x in (a, o, p))
    )
    assert code == 0
    expected = a[:n].astype(np.float32) * 2 + a[2:].astype(np.float32) * 2
    assert (o == expected).all()
    assert (p == expected.astype(np.float16)).all()
