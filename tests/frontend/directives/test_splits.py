"""Pins what `split` in its four tails, `tile`, `fuse` and `reorder` make of loops."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline

from hbc.ir.lang.show import show

LINE = """
size   W
input  I: f32[W]
output O: f32[W]
O[x] = I[x] * 2.0
"""

GRID = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
O[y, x] = I[y, x] + 1.0
"""


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.split(x, xo, xi, 8, tail = guard)",
            """
            xo: W / 8
              xi: 8
                O = ..
            x_tail = W % 8
            if x_tail > 0
              xi: x_tail
                O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 8, tail = mask)",
            """
            xo: W / 8
              xi: 8
                O = ..
            x_tail = W % 8
            if x_tail > 0
              xi: x_tail
                O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 8, tail = shift)",
            """
            if W >= 8
              xo: (W + 7) / 8
                x_base = min(8 * xo, W - 8)
                xi: 8
                  O = ..
            else
              xo: (W + 7) / 8
                x_n = W - 8 * xo
                xi: x_n
                  O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 8, tail = exact)",
            """
            check W % 8 == 0
            xo: W / 8
              xi: 8
                O = ..
            """,
        ),
    ],
)
def test_split(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule)) == expected(wanted)
    agrees(LINE, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.vectorize(x, 8, tail = guard)",
            """
            x: W / 8
              O = .. x8
            x_tail = W % 8
            if x_tail > 0
              x_v: x_tail
                O = ..
            """,
        ),
        (
            "O.vectorize(x, 8, tail = mask)",
            """
            x: W / 8
              O = .. x8
            x_tail = W % 8
            if x_tail > 0
              O = .. x8 masked
            """,
        ),
        (
            "O.vectorize(x, 8, tail = shift)",
            """
            if W >= 8
              x: (W + 7) / 8
                x_base = min(8 * x, W - 8)
                O = .. x8
            else
              x: (W + 7) / 8
                x_n = W - 8 * x
                O = .. x8 masked
            """,
        ),
        (
            "O.vectorize(x, 8, tail = exact)",
            """
            check W % 8 == 0
            x: W / 8
              O = .. x8
            """,
        ),
    ],
)
def test_vector_tails(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule, "simplify-vectors")) == expected(wanted)
    agrees(LINE, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.tile(y, x, yo, xo, yi, xi, 4, 8)",
            """
            yo: H / 4
              xo: W / 8
                yi: 4
                  xi: 8
                    O = ..
              x_tail = W % 8
              if x_tail > 0
                yi: 4
                  xi: x_tail
                    O = ..
            y_tail = H % 4
            if y_tail > 0
              xo: (W + 7) / 8
                x_n = min(W - 8 * xo, 8)
                yi: y_tail
                  xi: x_n
                    O = ..
            """,
        ),
        (
            "O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = shift)",
            """
            if H >= 4 & W >= 8
              yo: (H + 3) / 4
                y_base = min(4 * yo, H - 4)
                xo: (W + 7) / 8
                  x_base = min(8 * xo, W - 8)
                  yi: 4
                    xi: 8
                      O = ..
            else
              yo: (H + 3) / 4
                y_n = min(H - 4 * yo, 4)
                xo: (W + 7) / 8
                  x_n = min(W - 8 * xo, 8)
                  yi: y_n
                    xi: x_n
                      O = ..
            """,
        ),
        (
            "O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = exact)",
            """
            check H % 4 == 0
            check W % 8 == 0
            yo: H / 4
              xo: W / 8
                yi: 4
                  xi: 8
                    O = ..
            """,
        ),
        (
            "O.fuse(y, x, f)",
            """
            f: H * W
              O = ..
            """,
        ),
        (
            "O.fuse(y, x, f).split(f, fo, fi, 8)",
            """
            fo: H * W / 8
              fi: 8
                O = ..
            f_tail = H * W % 8
            if f_tail > 0
              fi: f_tail
                O = ..
            """,
        ),
        (
            "O.reorder(x, y)",
            """
            x: W
              y: H
                O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 8, tail = exact).split(xi, xm, xn, 4)",
            """
            check W % 8 == 0
            y: H
              xo: W / 8
                xm: 2
                  xn: 4
                    O = ..
            """,
        ),
    ],
)
def test_two_dimensions(schedule: str, wanted: str) -> None:
    assert outline(lowered(GRID, schedule)) == expected(wanted)
    agrees(GRID, schedule)


def test_sizes_that_divide_leave_no_tail() -> None:
    kernel = lowered(LINE, "O.split(x, xo, xi, 8)", sizes={"W": 32})
    assert outline(kernel) == "xo: 4\n  xi: 8\n    O = .."


def test_sizes_that_do_not_divide_leave_constants() -> None:
    kernel = lowered(LINE, "O.split(x, xo, xi, 8)", sizes={"W": 35})
    assert outline(kernel) == "xo: 4\n  xi: 8\n    O = ..\nxi: 3\n  O = .."


def test_an_extent_with_a_division_can_be_promised() -> None:
    program = """
        size W
        input I: f32[W / 2]
        output O: f32[1]
        reduce r in W / 2
        O[x] = 0
        O[x] += I[r]
        """
    kernel = lowered(program, "O.update.split(r, ro, ri, 4, tail = exact)")
    assert [show(check.condition) for check in kernel.checks][-1] == "W / 2 % 4 == 0"
    agrees(program, "O.update.split(r, ro, ri, 4, tail = exact)")


def test_a_piece_becomes_partial_where_a_loop_over_its_fused_half_is_open() -> None:
    split = "O.split(y, yo, yi, 5, tail = shift).fuse(yi, x, f)"
    agrees(GRID, f"{split}.split(f, fo, fi, 2).reorder(fo, yo, fi)", "c")


@pytest.mark.parametrize(
    "schedule",
    [
        "O.split(x, xo, xi, 4).split(xi, a, b, 8).reorder(b, a, xo)",
        "O.split(x, xo, xi, 8, tail = shift).reorder(xi, xo)",
    ],
)
def test_copies_stay_inside_where_only_a_guard_tells_which_points_there_are(schedule: str) -> None:
    agrees(LINE, f"{schedule}; I.in(O).compute_at(O, xo)", "c")
