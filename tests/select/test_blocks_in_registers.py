"""Instructions whose sums are blocks of 2 x 2 in one register: chosen where the sums are written so."""

from __future__ import annotations

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

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
