"""Generated code under the address, leak and undefined-behaviour sanitizers, with threads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cast_cases import cast
from compiled import emitted
from lanes import SECONDS, Case, call, finish, make_kernel, shape_of
from leak_checked import run_checked
from memory_moves import SIZES, filled, kernel_of, moves
from operator_cases import plain_cases
from random_expressions import random_case
from values import values

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import SANITIZE, build, find_compiler, flags
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, F32, I8, I16, I32, I64, U8, U16, U32
from hbc.ir.meaning.numpy_types import Array

INTEGERS = (I8, U8, I16, U16, I32, U32, I64)
# A table at the root, a window in heap memory for each iteration of a parallel loop.
TEXT = """
kernel windows
size   H, W
input  I: f32[H + 2, W]
output O: f32[H, W]
reduce r in H
rows[y, x]  = I[y, x] + I[y + 1, x]
total[x]    = 0
total[x]   += I[r, x]
sum[y, x]   = rows[y, x] + rows[y + 1, x] + total[x]
O[y, x]     = sum[y, x]
schedule s for c, avx2, avx512 {
    O.split(y, yo, yi, 4).parallel(yo).vectorize(x, 8)
    sum.compute_at(O, yi).store_in(heap).vectorize(x, 8)
    rows.store_at(O, yo).compute_at(O, yi).store_in(heap)
    total.compute_root()
}
"""
PROGRAM = """
#include "windows.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    for (int64_t h = 0; h < 14; h += 3) {
        for (int64_t w = 0; w < 20; w += 7) {
            float *in = malloc((size_t)((h + 2) * w) * sizeof *in);
            float *out = malloc((size_t)(h * w) * sizeof *out);
            for (int64_t i = 0; i < (h + 2) * w; ++i)
                in[i] = (float)i;
            const int code = windows(h, w, in, out);
            if (code != 0)
                return puts(windows_strerror(code)), 1;
            float seen = 0.0f;
            for (int64_t i = 0; i < h * w; ++i)
                seen += out[i];
            if (h > 0 && w > 0 && seen <= 0.0f)
                return 2;
            free(in);
            free(out);
        }
    }
    return 0;
}
"""


@pytest.fixture
def checked(sanitizer_runtimes: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Child processes can load sanitized libraries."""
    if sanitizer_runtimes is None:
        pytest.skip("the C compiler has no libasan")
    monkeypatch.setenv("LD_PRELOAD", sanitizer_runtimes)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0")


def sanitized(
    kernel: Kernel, inputs: dict[str, Array], target: str, folder: Path, sizes: dict[str, int]
) -> None:
    """Fails when a sanitizer ends the process."""
    call(kernel, inputs, target, folder, ("-O0",), sizes, sanitize=True)


@pytest.mark.usefixtures("checked")
def test_arithmetic(tmp_path: Path) -> None:
    """On integers of every value: overflow, shifts, casts from floats out of range."""
    cases: list[Case] = [case for t in INTEGERS for case in plain_cases(t)]
    cases += [cast(s, t) for s in DTYPES.values() for t in DTYPES.values() if s != t]
    cases += [random_case(seed, 4) for seed in range(600, 660)]
    kernel, _ = make_kernel(cases, 1)
    inputs = {a.name: values(a.name) for a in kernel.arguments if not a.output}
    sanitized(kernel, inputs, "c", tmp_path, {})


@pytest.mark.usefixtures("checked")
def test_a_mistake_would_be_seen(tmp_path: Path) -> None:
    """The sum that wraps, without the casts that make it."""
    kernel, _ = make_kernel(plain_cases(I32)[:1], 1)
    source = finish(kernel, "c")
    wrong = replace(
        source, text=source.text.replace("(int32_t)((uint32_t)a + (uint32_t)b)", "a + b")
    )
    assert wrong.text != source.text
    library = build(wrong, TARGETS["c"], tmp_path / "k.so", sanitize=True)
    inputs = {name: values(name) for name in ("a_i32", "b_i32")}
    shapes = {a.name: (shape_of(a), a.element) for a in kernel.arguments if a.output}
    with (
        Native(library, 1, SECONDS) as native,
        pytest.raises(InternalError, match="signed integer overflow"),
    ):
        native.call(kernel.name, [], inputs, shapes)


@pytest.mark.usefixtures("checked")
def test_memory(native_vector_target: str, tmp_path: Path) -> None:
    kernel = kernel_of({f"out_{t}": list(moves(t, 13, f"out_{t}")) for t in (U8, F32)})
    sanitized(kernel, filled(kernel), native_vector_target, tmp_path, SIZES)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_program_with_threads_leaks_nothing(
    native_target: str, threads: int, tmp_path: Path
) -> None:
    compiler = find_compiler()
    source, target = for_this_processor(emitted(TEXT, native_target), TARGETS[native_target])
    assert source.parallel
    assert "allocate(" in source.text
    library = build(source, target, tmp_path / "windows.o", "obj", sanitize=True)
    (tmp_path / "windows.h").write_text(source.header)
    (tmp_path / "main.c").write_text(PROGRAM)
    options = flags(source, target, compiler, sanitize=True)
    answer = run_checked(compiler, options, [tmp_path / "main.c", library], threads)
    assert answer.returncode == 0, answer.stderr[-2000:]


def test_the_sanitizers_come_after_the_level_of_optimization() -> None:
    """-O1 of SANITIZE wins over -O3, and what is asked for besides wins over both."""
    source = emitted(TEXT, "c")
    options = flags(source, TARGETS["c"], find_compiler(), sanitize=True)
    assert options.index("-O3") < options.index("-O1")
    assert all(option in options for option in SANITIZE)
