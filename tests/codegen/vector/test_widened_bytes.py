"""Bytes that lie apart, widened by the instruction that picks them: what kernels compute, with and without
tails, beside NumPy. Memory behind every array faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import lowered
from run_here import runnable

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

TARGET = "avx512vbmi"
KERNEL = """
size N
input A: u8[N, {count}]
output S: {t}[N]
S[i] = {sum}
schedule s for avx512, avx2, arm_dot {{ S.vectorize(i, {lanes}) }}
"""


# Bits of a register, and what its code has where bytes are picked and widened by the same instructions.
MACHINES = {
    "avx512vbmi": (512, "maskz_permutex"), "avx512": (512, "_mask_shuffle_epi8"),
    "avx2": (256, "_mm256_or_si256(_mm256_shuffle_epi8"), "arm_dot": (128, "255, "),
}  # fmt: skip


def is_by_one(target: str, lanes: int, count: int) -> bool:
    """Vectors that span more than two registers, or are fewer bytes than one has, are left to others; so are
    blocks where only those of 128 bits are picked from, of which here nothing is said but of 16-bit lanes."""
    if target == "avx512vbmi":
        return lanes * count <= 128 and 2 * lanes * count >= 64
    return lanes * 16 == MACHINES[target][0] and count in (3, 4)


@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("element", ["u16", "i16", "u32", "i32"])
def test_weighted_sums(element: str, count: int, target: str, tmp_path: Path) -> None:
    runnable(target)
    t, machine = DTYPES[element], TARGETS[target]
    bits, written = MACHINES[target]
    lanes = bits // t.bits
    weights = [77, 150, 29, 1000, 33][:count]
    total = " + ".join(f"{element}(A[i, {c}]) * {w}" for c, w in enumerate(weights))
    text = KERNEL.format(count=count, t=element, sum=total, lanes=2 * lanes)
    source = emit_c(lowered(text, target), machine)
    by_one = is_by_one(target, lanes, count)
    assert (written in source.text) == by_one or (target != "avx512vbmi" and not by_one)
    options = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    library = build_callable(source, machine, tmp_path, extra=options)
    random, kind = np.random.default_rng(count), numpy_dtype(t)
    with Native(library, 1, 60.0) as native:
        for n in (1, lanes, 4 * lanes, 6 * lanes + 7):
            a = random.integers(0, 256, (n, count), dtype=np.uint8)
            with np.errstate(over="ignore"):
                right = (a.astype(kind) * np.array(weights).astype(kind)).sum(axis=1, dtype=kind)
            got = native.call("k", [n], {"A": a}, {"S": ((n,), t)}, guarded=True).outputs["S"]
            assert np.array_equal(got, right), n


def test_of_what_the_kernel_stores_no_more_is_read() -> None:
    """Bytes between those that are wanted may not have been stored yet."""
    text = """
size N
input A: u8[2 * N]
output B: u8[2 * N]
output S: u16[N]
B[i] = A[i] + 1
S[i] = u16(B[2 * i + 1]) * 77
schedule s for avx512 { B.vectorize(i, 64)
 S.vectorize(i, 32) }
"""
    source = emit_c(lowered(text, TARGET), TARGETS[TARGET])
    assert "maskz_permutex" not in source.text


def test_bytes_that_a_condition_leaves_out_stay() -> None:
    text = """
size N
input A: u8[2 * N]
output S: u16[N]
S[i] = select(i > 3, u16(A[2 * i]), u16(7))
schedule s for avx512 { S.vectorize(i, 32) }
"""
    source = emit_c(lowered(text, TARGET), TARGETS[TARGET])
    assert "maskz_permutex" not in source.text


def test_bytes_that_are_widened_to_signed_and_unsigned_integers(tmp_path: Path) -> None:
    """Out of the same registers."""
    runnable(TARGET)
    text = """
size N
input A: u8[N, 3]
output B: i32[2, N]
B[c, i] = select(c == 0, i32(u16(A[i, 0]) * 200 + u16(A[i, 1]) * 90),
    i32(i16(A[i, 0]) * 120 - i16(A[i, 1]) * 128))
schedule s for avx512 { B.split(i, io, ii, 32).reorder(io, c, ii).vectorize(ii).unroll(c) }
"""
    machine = TARGETS[TARGET]
    source = emit_c(lowered(text, TARGET), machine)
    assert source.text.count("maskz_permutex2var_epi8") == 4
    library = build_callable(source, machine, tmp_path)
    random = np.random.default_rng(3)
    with Native(library, 1, 60.0) as native:
        for n in (1, 64, 77):
            a = random.integers(0, 256, (n, 3), dtype=np.uint8)
            u, s = a.astype(np.uint16), a.astype(np.int16)
            rows = (u[:, 0] * 200 + u[:, 1] * 90, s[:, 0] * 120 - s[:, 1] * 128)
            right = np.stack([row.astype(np.int32) for row in rows])
            made = {"B": ((2, n), DTYPES["i32"])}
            got = native.call("k", [n], {"A": a}, made, guarded=True).outputs["B"]
            assert np.array_equal(got, right), n
