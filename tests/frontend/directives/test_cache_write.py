"""Sums of an output in a Func of their own: the same results, with registers and tiles for the sums."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline
from small_programs import SCAN, SUMS

BEST = """
size   W, H
input  I: i32[H, W]
output best: i32[H]
output at: i32[H]
reduce r in W
(best[y], at[y]) = (-2147483647, -1)
(best[y], at[y]) = select(I[y, r] > best[y], (I[y, r], i32(r)), (best[y], at[y]))
"""

COUNTS = """
size   W, H
input  I: u8[H, W]
output O: i32[8]
reduce y in H, x in W
O[v] = 3
O[i32(I[y, x]) % 8] += 1
"""

READ_BY_OTHERS = """
size   W, H
input  I: f32[H, W]
output O: f32[H]
output P: f32[H]
reduce r in W
O[y] = 0
O[y] += I[y, r]
O[y] += 1
P[y] = O[y] * 2
"""


@pytest.mark.parametrize(
    ("program", "schedule"),
    [
        (SUMS, "O.cache_write(acc)"),
        (SUMS, "O_acc.compute_at(O, y).store_in(registers) O.cache_write(acc)"),
        (SUMS, "O.cache_write(acc).split(y, yo, yi, 4).unroll(yi) O_acc.compute_at(O, yo)"
               ".store_in(registers).unroll(y) O_acc.update.reorder(r, y).unroll(y)"),
        (SUMS, "O.cache_write(acc) O_acc.compute_at(O, y) O_acc.update.split(r, ro, ri, 8)"
               ".rfactor(ri, u) O_acc_u.compute_at(O_acc.update, y).vectorize(u)"
               " O_acc_u.update.reorder(y, ro, u).vectorize(u)"),
        (SUMS, "O.cache_write(acc) I.in(O_acc).compute_at(O, y) O_acc.compute_at(O, y)"),
        (SCAN, "O.cache_write(acc).parallel(y) O_acc.compute_at(O, y)"),
        (BEST, "best.cache_write(acc).split(y, yo, yi, 4) best_acc.compute_at(best, yo)"),
        (COUNTS, "O.cache_write(mine).vectorize(v)"),
        (READ_BY_OTHERS, "O.cache_write(acc) O_acc.compute_at(O, y) P.vectorize(y, 8)"),
    ],
)  # fmt: skip
def test_gives_the_same(program: str, schedule: str) -> None:
    agrees(program, schedule)


def test_sums_lie_in_registers() -> None:
    schedule = (
        "O.cache_write(acc).split(y, yo, yi, 4).unroll(yi) O_acc.compute_at(O, yo)"
        ".store_in(registers).unroll(y) O_acc.update.reorder(r, y).unroll(y)"
    )
    assert outline(lowered(SUMS, schedule, sizes={"H": 8, "W": 5})) == expected(
        """
        yo: 2
          O_acc[4] registers
          unroll y: 4 from 4 * yo
            O_acc = ..
          r: 5
            unroll y: 4 from 4 * yo
              O_acc = ..
          unroll yi: 4
            O = ..
        """
    )
