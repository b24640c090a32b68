"""Kernels whose memory runs out at each of their allocations in turn: the code says so, and nothing leaks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from compiled import emitted
from leak_checked import run_checked

from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import find_compiler, flags
from hbc.ir.lang.target import TARGETS

# Six buffers at once, two more for each thread of a parallel loop.
THREADS = """
kernel fails
size   D, H, W
input  I: f32[D, H + 2, W]
output O: f32[D, H, W]
output P: f32[D, H, W]
reduce r in H
a[z, y, x]     = I[z, y, x] + I[z, y + 1, x]
b[z, y, x]     = I[z, y, x] * I[z, y + 1, x]
c[z, y, x]     = a[z, y, x] + b[z, y, x]
total[z, x]    = 0
total[z, x]   += I[z, r, x]
rows[z, y, x]  = c[z, y, x] + total[z, x]
twice[z, y, x] = rows[z, y, x] + rows[z, y, x] * total[z, x]
O[z, y, x]     = twice[z, y, x] + total[z, x]
left[z, y, x]  = I[z, y, x] + c[z, y, x]
right[z, y, x] = left[z, y, x] - I[z, y + 1, x]
P[z, y, x]     = right[z, y, x] * right[z, y, x]
schedule s for c {
    a.compute_root()
    b.compute_root()
    c.compute_root()
    total.compute_at(O, z).store_in(heap)
    rows.compute_at(O, y).store_in(heap)
    twice.compute_at(O, y).store_in(heap)
    P.parallel(z)
    left.compute_at(P, z).store_in(heap)
    right.compute_at(P, y).store_in(heap)
}
"""
# One buffer; two of another size in each iteration of a loop, and something to do after it.
ITERATIONS = """
kernel fails
size   D, H, W
input  I: f32[D, H + 2, W]
output O: f32[D, H, W]
output P: f32[D, H, W]
reduce k in 0 .. z
a[z, x]     = I[z, 0, x] + I[z, 1, x]
b[z, j]     = a[z, 0] + a[j, 0]
c[z, j]     = b[z, j] * b[z, j] + a[j, 0]
O[z, y, x]  = a[z, x] + 1
O[z, y, x] += c[z, k]
P[z, y, x]  = O[z, y, x] + a[z, x]
schedule s for c {
    a.compute_root()
    b.compute_at(O.update, z).store_in(heap)
    c.compute_at(O.update, z).store_in(heap)
}
"""
PROGRAM = """
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The `fails_at`-th allocation from now on fails. */
static atomic_int fails_at;
static void *scarce(size_t alignment, size_t bytes)
{
    return atomic_fetch_sub(&fails_at, 1) == 1 ? NULL : aligned_alloc(alignment, bytes);
}
#define aligned_alloc scarce
#include "fails.c"

enum { D = 3, H = 5, W = 7 };

int main(void)
{
    float in[D * (H + 2) * W], out[D * H * W], other[D * H * W];
    for (int i = 0; i < D * (H + 2) * W; ++i)
        in[i] = (float)(i % 11);
    int failed = 0;
    for (int n = 1;; ++n) {
        fails_at = n;
        const int code = fails(D, H, W, in, out, other);
        if (code == fails_OK)
            break;
        if (code != fails_MEMORY)
            return printf("%s\\n", fails_strerror(code)), 1;
        ++failed;
    }
    printf("%d\\n", failed);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "threads", "fewest"),
    [(THREADS, 1, 8), (THREADS, 3, 8), (ITERATIONS, 1, 6)],
    ids=["thread", "threads", "iterations"],
)
def test_each_allocation_fails(text: str, threads: int, fewest: int, tmp_path: Path) -> None:
    compiler = find_compiler()
    source, target = for_this_processor(emitted(text, "c"), TARGETS["c"])
    for name, text in (("fails.h", source.header), ("fails.c", source.text), ("main.c", PROGRAM)):
        (tmp_path / name).write_text(text)
    options = flags(source, target, compiler, sanitize=True)
    options = [*options, "-Wall", "-Wextra", "-Werror"]
    answer = run_checked(compiler, options, [tmp_path / "main.c"], threads)
    assert answer.returncode == 0, answer.stdout + answer.stderr[-2000:]
    assert int(answer.stdout) >= fewest


@pytest.mark.parametrize(
    ("text", "names"), [(THREADS, ("a", "b", "c", "total", "rows", "twice")), (ITERATIONS, "abc")]
)
def test_what_frees_is_said_once(text: str, names: Sequence[str]) -> None:
    """Not at each allocation after it."""
    printed = emitted(text, "c").text
    assert [printed.count(f" release({name});") for name in names] == [1] * len(names)
