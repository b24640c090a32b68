"""Instructions whose sums are blocks of 2 x 2 in one register: where the sums are written so, and where
they are written in rows."""

from __future__ import annotations

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, Instruct
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes

BLOCKED = """
size M, N, K
input A: {a}[M, K]
input B: {b}[K, N]
output C: {sum}[M, N]
reduce k in K
acc[p, q, i, j]  = 0
acc[p, q, i, j] += {sum}(A[2 * p + i, k]) * {sum}(B[k, 2 * q + j])
C[y, x] = acc[y / 2, x / 2, y % 2, x % 2]
schedule s for arm_dot {{
    C.tile(y, x, yo, xo, yi, xi, 4, 4, tail = exact).vectorize(xi).unroll(yi)
    acc.compute_at(C, xo).store_in(registers).unroll(p).unroll(q).vectorize(i).vectorize(j)
    acc.bound(i, 0, 2).bound(j, 0, 2)
    acc.update.split(k, ko, ki, {group}, tail = exact).reorder(ko, p, q, i, j, ki).atomic()
    acc.update.unroll(p).unroll(q).vectorize(i).vectorize(j).vectorize(ki)
}}
"""
INSTRUCTIONS = {
    "smmla": {"a": "i8", "b": "i8", "sum": "i32", "group": "8"},
    "ummla": {"a": "u8", "b": "u8", "sum": "u32", "group": "8"},
    "usmmla": {"a": "u8", "b": "i8", "sum": "i32", "group": "8"},
    "bfmmla": {"a": "bf16", "b": "bf16", "sum": "f32", "group": "4"},
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_blocks(name: str) -> None:
    p, kernels = compiled(BLOCKED.format(**INSTRUCTIONS[name]), "arm_dot")
    assert_selected(kernels["select"])
    assert [i.name for i in kernels["select"].instructions] == [name]
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 8, "N": 12, "K": 16})


ROWS = """
size M, N, K
input A: {a}[M, K]
input B: {b}[K, N]
input D: {sum}[N]
output C: {out}[M, N]
reduce k in K
acc: {sum}[i, j] = {start}
acc[i, j] += {sum}(A[i, k]) * {sum}(B[k, j])
C[i, j] = {end}
schedule s for arm_dot {{
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).reorder(jo, io, ii, ji)
    {result}
    acc.compute_at(C, io).store_in(registers){start_loops}
    acc.update.split(k, ko, ki, {step}, tail = {tail}).reorder(ko, {order}, ki).atomic().vectorize(ki)
    {sums}
}}
"""
UNROLLED = {
    "result": "C.vectorize(ji, 4).unroll(ji).unroll(ii)",
    "start_loops": ".vectorize(j, 4).unroll(i).unroll(j)",
    "order": "i, j",
    "sums": "acc.update.vectorize(j, 4).unroll(i).unroll(j)",
}
COLUMNS_FIRST = UNROLLED | {"order": "j, i"}
VECTORS = {
    "result": "C.vectorize(ji).vectorize(ii)",
    "start_loops": ".vectorize(i).vectorize(j)",
    "order": "i, j",
    "sums": "acc.update.vectorize(i).vectorize(j)",
}
PLAIN = {"start": "0", "end": "acc[i, j]", "out": "{sum}", "tail": "exact"}
FINISHED = {
    "start": "D[j]",
    "end": "u8(clamp(acc[i, j] >> 7, 0, 255))",
    "out": "u8",
    "tail": "mask",
}
BYTES = {"a": "i8", "b": "i8", "sum": "i32", "step": "8"}
BF16 = {"a": "bf16", "b": "bf16", "sum": "f32", "step": "4"}


def rows(*parts: dict[str, str]) -> dict[str, Kernel]:
    """A product of matrices in such a spelling, held against the oracle."""
    given = {name: text for part in parts for name, text in part.items()}
    text = ROWS.format(**given).replace("{sum}", given["sum"])
    p, kernels = compiled(text, "arm_dot")
    assert_selected(kernels["select"])
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"M": 8, "N": 32, "K": 16 if "exact" in text else 13})
    return kernels


def counts(kernel: Kernel) -> dict[str, int]:
    found: dict[str, int] = {}
    for n in nodes(kernel.body):
        if isinstance(n, Instruct):
            found[n.name] = found.get(n.name, 0) + 1
    return found


@pytest.mark.parametrize("spelling", (UNROLLED, COLUMNS_FIRST, VECTORS))
def test_rows_become_blocks(spelling: dict[str, str]) -> None:
    kernels = rows(BYTES, PLAIN, spelling)
    assert counts(kernels["select"]) == {"smmla": 16}  # of rows it would be 32 x sdot
    sums = [
        n for n in nodes(kernels["hoist"].body) if isinstance(n, Allocate) and n.buffer == "acc"
    ]
    assert [n.memory for n in sums] == [Memory.REGISTER]


@pytest.mark.parametrize(
    ("types", "name"),
    (
        (BYTES | {"a": "u8"}, "usmmla"),
        (BYTES | {"b": "u8"}, "usmmla"),
        (BYTES | {"a": "u8", "b": "u8", "sum": "u32"}, "ummla"),
        (BF16, "bfmmla"),
    ),
)
def test_types(types: dict[str, str], name: str) -> None:
    assert counts(rows(types, PLAIN, UNROLLED)["select"]) == {name: 16}


def test_start_end_and_tail() -> None:
    """A bias before, a conversion after, and the rest of a sum."""
    for spelling in (UNROLLED, VECTORS):
        assert counts(rows(BYTES, FINISHED, spelling)["select"]) == {"smmla": 32}


def test_short_steps_stay_rows() -> None:
    """Half of each operand would be zeros."""
    assert counts(rows(BYTES | {"step": "4"}, PLAIN, UNROLLED)["select"]) == {"sdot": 16}
