"""Parallel loops start threads where there is enough to do, and say in C what that is."""

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compiled import emitted

from hbc.codegen.build.toolchain import find_compiler, flags, has_openmp
from hbc.codegen.c.work import MACRO, OPERATIONS, always_on_threads
from hbc.ir.lang.target import TARGETS

SUM = """
size M, N
input A: f32[M, N]
output O: f32[M, N]
O[i, j] = A[i, j] * 2 + 1
schedule s for c { O.parallel(i) }
"""
CLAUSES = {
    # Two operations, a load and a store of each element, and the loop's own step.
    "sizes": (SUM, "5.0 * M * N"),
    "a triangle": (
        """
        size N
        input A: f32[N, N]
        output O: f32[N]
        reduce k in N
        O[i] = 0
        O[i] += A[i, k] where k <= i
        schedule s for c { O.parallel(i); O.update.parallel(i) }
        """,
        "2.5 * N * N",
    ),
    "vectors": (
        """
        size N
        input A: f32[N]
        output O: f32[N]
        O[i] = A[i] * A[i]
        schedule s for avx512 { O.split(i, io, ii, 1024).parallel(io).vectorize(ii, 16) }
        """,
        "0.251 * N",
    ),
    "data": (
        """
        size N, Z
        input P: i32[N + 1]
        input A: f32[Z]
        output O: f32[N]
        reduce k in Z
        O[i] = 0
        O[i] += A[k] where k >= i64(P[i]) and k < i64(P[i + 1])
        schedule s for c { O.update.parallel(i) }
        """,
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAUSES)
def test_the_estimate_is_a_polynomial_of_the_sizes(name: str) -> None:
    text, wanted = CLAUSES[name]
    target = "avx512" if "avx512" in text else "c"
    source = emitted(text, target)
    found = re.findall(
        r"#pragma omp parallel for(?: if\((.*) >= HBC_PARALLEL_FROM\))?$", source.text, re.M
    )
    assert found[-1] == (wanted or ""), found


def test_few_operations_ask_for_one_thread(tmp_path: Path) -> None:
    """gcc's own call of its library is answered here: 1 is one thread, 0 as many as there are."""
    compiler = find_compiler()
    if compiler.kind != "gcc" or not has_openmp(compiler):
        pytest.skip("needs gcc's OpenMP")
    source = emitted(SUM, "c")
    (tmp_path / "k.h").write_text(source.header)
    (tmp_path / "k.c").write_text(
        source.text + "\nunsigned asked = 99;\n"
        "void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);\n"
        "void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)\n"
        "{\n    (void)flags;\n    asked = threads;\n    body(data);\n}\n"
    )
    rows = OPERATIONS // 5 // 64 + 1
    for made, few in ((source, 1), (always_on_threads(source), 0)):
        options = flags(made, TARGETS["c"], compiler)
        assert (f"-D{MACRO}=0" in options) == (few == 0)
        out = tmp_path / f"k{few}.so"
        subprocess.run(
            [
                *compiler.command,
                *options,
                "-fPIC",
                "-shared",
                str(tmp_path / "k.c"),
                "-o",
                str(out),
                "-lm",
            ],
            check=True,
        )
        library = ctypes.CDLL(str(out))
        for m, wanted in ((1, few), (rows - 1, few), (rows, 0), (100 * rows, 0)):
            a, o = np.ones((m, 64), np.float32), np.zeros((m, 64), np.float32)
            at = [ctypes.c_void_p(x.ctypes.data) for x in (a, o)]
            assert library.k(ctypes.c_int64(m), ctypes.c_int64(64), *at) == 0
            assert ctypes.c_uint.in_dll(library, "asked").value == wanted, m
            assert (o == 3).all()
