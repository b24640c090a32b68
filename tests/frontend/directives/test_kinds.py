"""Pins `unroll`, `vectorize` and `parallel`: the kinds of loops, and what is left of them."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline

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
            "O.unroll(x, 4)",
            """
            y: H
              x: W / 4
                unroll x_u: 4
                  O = ..
              x_tail = W % 4
              if x_tail > 0
                x_u: x_tail
                  O = ..
            """,
        ),
        (
            "O.vectorize(x, 8)",
            """
            y: H
              x: W / 8
                vector x_v: 8
                  O = ..
              x_tail = W % 8
              if x_tail > 0
                vector x_v: 8
                  if x_v < x_tail
                    O = ..
            """,
        ),
        (
            "O.parallel(y)",
            """
            parallel y: H
              x: W
                O = ..
            """,
        ),
        (
            "O.parallel(y, 4)",
            """
            parallel y: H / 4
              y_p: 4
                x: W
                  O = ..
            y_tail = H % 4
            if y_tail > 0
              y_p: y_tail
                x: W
                  O = ..
            """,
        ),
        (
            "O.tile(y, x, yo, xo, yi, xi, 2, 8, tail = exact).vectorize(xi).unroll(yi).parallel(yo)",
            """
            check H % 2 == 0
            check W % 8 == 0
            parallel yo: H / 2
              xo: W / 8
                unroll yi: 2
                  vector xi: 8
                    O = ..
            """,
        ),
    ],
)
def test_kinds(schedule: str, wanted: str) -> None:
    assert outline(lowered(GRID, schedule)) == expected(wanted)
    agrees(GRID, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.tile(y, x, yo, xo, yi, xi, 2, 8, tail = exact).vectorize(xi).unroll(yi)",
            """
            check H % 2 == 0
            check W % 8 == 0
            yo: H / 2
              xo: W / 8
                O = .. x8
                O = .. x8
            """,
        ),
        (
            "O.vectorize(y, 4, tail = exact)",
            """
            check H % 4 == 0
            y: H / 4
              x: W
                O = .. x4
            """,
        ),
        (
            "O.unroll(x, 2).vectorize(x, 8)",
            """
            y: H
              x: W / 16
                O = .. x8
                O = .. x8
              x_2_tail = W / 2 % 8
              if x_2_tail > 0
                O = .. x8 masked
                O = .. x8 masked
              x_tail = W % 2
              if x_tail > 0
                x_u: x_tail
                  O = ..
            """,
        ),
        (
            "O.vectorize(x, 40, tail = exact)",
            """
            check W % 40 == 0
            y: H
              x: W / 40
                O = .. x40
            """,
        ),
    ],
)
def test_vectors_and_copies(schedule: str, wanted: str) -> None:
    """No VECTOR or UNROLL loop is left: there are vector stores, and copies."""
    assert outline(lowered(GRID, schedule, "simplify-vectors")) == expected(wanted)
    agrees(GRID, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.vectorize(x, 40, tail = exact)",
            """
            check W % 40 == 0
            y: H
              x: W / 40
                O = .. x16
                O = .. x16
                O = .. x8
            """,
        ),
    ],
)
def test_native_widths(schedule: str, wanted: str) -> None:
    """40 lanes are 16, 16 and 8."""
    assert outline(lowered(GRID, schedule, "legalize")) == expected(wanted)
    agrees(GRID, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.vectorize(x, 4, tail = exact)",
            """
            check W % 4 == 0
            y: H
              x: W / 4
                x_v: 4
                  O = ..
            """,
        ),
    ],
)
def test_scalars(schedule: str, wanted: str) -> None:
    """On `c`, lanes are statements or loops for the C compiler."""
    assert outline(lowered(GRID, schedule, "legalize", "c")) == expected(wanted)
    agrees(GRID, schedule, "c")
