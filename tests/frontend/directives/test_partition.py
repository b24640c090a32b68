"""Pins `partition`: which loops run apart at their ends, what is decided between, what stays in one piece."""

from __future__ import annotations

import re

import pytest
from outlines import agrees, expected, lowered, outline

EDGES = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
require H >= 1 and W >= 1
P = {}(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x] = rows[y - 1, x] + 2.0 * rows[y, x] + rows[y + 1, x]
"""
CLAMPED, ZERO = (
    EDGES.format("clamp_edge"),
    EDGES.format("zero_edge").replace("require H >= 1 and W >= 1\n", ""),
)

TRIANGLE = """
size   W, H
input  A: f32[W]
output f: f32[H]
reduce i in W, j in W
f[y] = 0
f[y] += A[i + j] * A[j] where i + j < W and j >= 2 and j != 5
"""

BRANCHES = """
size   W, H
input  I: i32[H, W]
output O: i32[H, W]
O[y, x] = select(x < 3, I[y, x], select(x > y, I[y, x] - 1, I[y, x] + 7)) + select(x == 6, 100, 0)
"""

HALVES = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
require H >= 1 and W >= 1
O[y, x] = I[clamp(y / 2 + 1, 0, H - 1), clamp(3 * x - 4, 0, W - 1)]
"""


def loops(text: str, name: str) -> list[str]:
    """Where the loops of that name begin, and how long they are."""
    return re.findall(rf"^ *(?:parallel )?{name}: (.*)$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("program", "schedule"),
    [
        (CLAMPED, "O.partition(y)"),
        (CLAMPED, "O.partition(y).partition(x)"),
        (CLAMPED, "O.partition(x, always).partition(y, never)"),
        (CLAMPED, "O.vectorize(x, 8).partition(x).partition(y)"),
        (CLAMPED, "O.vectorize(x, 8).partition(x, never)"),
        (CLAMPED, "O.parallel(y).partition(y)"),
        (CLAMPED, "O.tile(y, x, yo, xo, yi, xi, 4, 8).vectorize(xi).unroll(yi).partition(xo)"),
        (CLAMPED, "O.tile(y, x, yo, xo, yi, xi, 4, 8).vectorize(xi).unroll(yi).partition(xo, never)"),
        (CLAMPED, "O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = guard).partition(yo, never).partition(xi)"),
        (CLAMPED, "O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = shift).partition(yo).partition(xo)"),
        (CLAMPED, "O.partition(y) rows.store_root().compute_at(O, y).partition(x)"),
        (CLAMPED, "O.split(y, yo, yi, 4).partition(yi) rows.store_at(O, yo).compute_at(O, yi)"
                  ".vectorize(x, 8).partition(y)"),
        (CLAMPED, "O.split(y, yo, yi, 4).partition(yo, never) rows.compute_at(O, yo).unroll(y, 2)"),
        (CLAMPED, "O.specialize(W >= 8).vectorize(x, 8).partition(x)"),
        (ZERO, "O.partition(y).partition(x)"),
        (ZERO, "O.vectorize(x, 8).partition(x)"),
        (ZERO, "rows.compute_root().partition(y).partition(x)"),
        (TRIANGLE, "f.update.partition(i).partition(j)"),
        (TRIANGLE, "f.update.partition(j, never)"),
        (TRIANGLE, "f.update.split(j, jo, ji, 4).partition(jo).partition(ji)"),
        (TRIANGLE, "f.update.atomic().split(j, jo, ji, 4).partition(jo, never).vectorize(ji)"),
        (BRANCHES, "O.partition(x)"),
        (BRANCHES, "O.partition(y).partition(x)"),
        (BRANCHES, "O.reorder(x, y).partition(y).partition(x)"),
        (HALVES, "O.partition(y).partition(x)"),
        (HALVES, "O.vectorize(x, 4).partition(x).partition(y)"),
        (HALVES, "O.fuse(y, x, yx).partition(yx)"),
    ],
)  # fmt: skip
def test_gives_the_same(program: str, schedule: str) -> None:
    agrees(program, schedule)


def test_scalar_code_gives_the_same() -> None:
    agrees(CLAMPED, "O.partition(y).vectorize(x, 8).partition(x)", "c")


def test_no_edge_is_met_in_the_middle() -> None:
    text = outline(lowered(ZERO, "O.partition(y).partition(x)", after="partition"))
    assert loops(text, "y") == [
        "min(H, 1)", "max(min(H, 1), H - 1) - min(H, 1) from min(H, 1)",
        "H - max(min(H, 1), H - 1) from max(min(H, 1), H - 1)",
    ]  # fmt: skip
    assert len(loops(text, "x")) == 9


def test_each_condition_is_decided_where_few_iterations_are_left_out() -> None:
    flat = BRANCHES.replace("x > y", "x > 33")
    kernel = lowered(flat, "O.partition(x)", after="partition", sizes={"H": 3, "W": 40})
    assert loops(outline(kernel), "x") == ["7", "27 from 7", "6 from 34"]


def test_a_window_knows_its_first_iteration() -> None:
    schedule = "O{} rows.store_root().compute_at(O, y)"
    plain = outline(lowered(CLAMPED, schedule.format(".partition(y, never)"), after="partition"))
    parted = outline(lowered(CLAMPED, schedule.format(".partition(y)"), after="partition"))
    assert plain.count("rows_y_new = select") == 1 and loops(plain, "y") == ["H"]
    assert len(loops(parted, "y")) == 3 and parted.count("rows_y_new = y + 1") == 1


def test_a_loop_that_is_never_divided_has_no_tail() -> None:
    assert outline(lowered(BRANCHES, "O.split(x, xo, xi, 4).partition(xo, never)")) == expected(
        """
        y: H
          xo: (W + 3) / 4
            x_n = min(W - 4 * xo, 4)
            xi: x_n
              O = ..
        """
    )
    text = outline(lowered(BRANCHES, "O.vectorize(x, 4).partition(x, never)", after="partition"))
    assert len(loops(text, "x")) == 1
