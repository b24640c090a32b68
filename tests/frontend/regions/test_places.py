"""Pins where Funcs are computed and stored, and that storage folds in a sliding window."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline

from hbc.ir.lang.show import show

BLUR = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x]    = rows[y - 1, x] + rows[y, x] + rows[y + 1, x]
"""


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "rows.compute_inline()",
            """
            y: H
              x: W
                O = ..
            """,
        ),
        (
            "rows.compute_root()",
            """
            rows[(H + 2) * W] heap
            y: H + 2 from -1
              x: W
                rows = ..
            y: H
              x: W
                O = ..
            """,
        ),
        (
            "rows.compute_at(O, y)",
            """
            y: H
              rows[3 * W] heap
              rows_y: 3 from y - 1
                x: W
                  rows = ..
              x: W
                O = ..
            """,
        ),
        (
            "rows.compute_at(O, x)",
            """
            y: H
              x: W
                rows[3] stack
                rows_y: 3 from y - 1
                  rows = ..
                O = ..
            """,
        ),
        (
            "O.split(y, yo, yi, 8, tail = shift); rows.compute_at(O, yo)",
            """
            if H >= 8
              yo: (H + 7) / 8
                y_base = min(8 * yo, H - 8)
                rows[10 * W] heap
                y: 10 from y_base - 1
                  x: W
                    rows = ..
                yi: 8
                  x: W
                    O = ..
            else
              rows[10 * W] heap
              y: H + 2 from -1
                x: W
                  rows = ..
              yi: H
                x: W
                  O = ..
            """,
        ),
        (
            "I.in(rows).compute_at(O, y)",
            """
            y: H
              I_in_rows_y_min = max(y - 1, 0)
              I_in_rows_y_n = min(y, H - 2) - max(y - 1, 0) + 2
              I_in_rows[3 * W] heap
              I_in_rows_y: I_in_rows_y_n from I_in_rows_y_min
                x: W
                  I_in_rows = ..
              x: W
                O = ..
            """,
        ),
        (
            "rows.compute_root(); rows.in(O).compute_at(O, y)",
            """
            rows[(H + 2) * W] heap
            y: H + 2 from -1
              x: W
                rows = ..
            y: H
              rows_in_O[3 * W] heap
              rows_in_O_y: 3 from y - 1
                x: W
                  rows_in_O = ..
              x: W
                O = ..
            """,
        ),
    ],
)
def test_compute(schedule: str, wanted: str) -> None:
    assert outline(lowered(BLUR, schedule)) == expected(wanted)
    agrees(BLUR, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "rows.store_root().compute_at(O, y)",
            """
            rows[4 * W] heap
            y: H
              rows_y_new = select(y == 0, y - 1, y + 1)
              rows_y: y - rows_y_new + 2 from rows_y_new
                x: W
                  rows = ..
              x: W
                O = ..
            """,
        ),
        (
            "rows.store_root().compute_at(O, x)",
            """
            rows[H + 2] heap
            y: H
              x: W
                rows_y: 3 from y - 1
                  rows = ..
                O = ..
            """,
        ),
        (
            "rows.store_at(O, y).compute_at(O, x)",
            """
            y: H
              rows[3] stack
              x: W
                rows_y: 3 from y - 1
                  rows = ..
                O = ..
            """,
        ),
        (
            "O.split(y, yo, yi, 8, tail = exact); rows.store_at(O, yo).compute_at(O, yi)",
            """
            check H % 8 == 0
            yo: H / 8
              rows[4 * W] heap
              yi: 8
                rows_y_new = select(yi == 0, yi + 8 * yo - 1, yi + 8 * yo + 1)
                y: yi + 8 * yo - rows_y_new + 2 from rows_y_new
                  x: W
                    rows = ..
                x: W
                  O = ..
            """,
        ),
        (
            "O.split(y, yo, yi, 8, tail = exact).parallel(yo); "
            "rows.store_at(O, yo).compute_at(O, yi)",
            """
            check H % 8 == 0
            parallel yo: H / 8
              rows[4 * W] heap
              yi: 8
                rows_y_new = select(yi == 0, yi + 8 * yo - 1, yi + 8 * yo + 1)
                y: yi + 8 * yo - rows_y_new + 2 from rows_y_new
                  x: W
                    rows = ..
                x: W
                  O = ..
            """,
        ),
    ],
)
def test_sliding_windows(schedule: str, wanted: str) -> None:
    """Three rows are needed, and one is new: four are kept, since that wraps round by a mask."""
    assert outline(lowered(BLUR, schedule)) == expected(wanted)
    agrees(BLUR, schedule)


@pytest.mark.parametrize("memory", ["stack", "heap", "registers"])
def test_memory(memory: str) -> None:
    schedule = (
        "O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = exact); "
        f"rows.compute_at(O, xo).store_in({memory})"
    )
    assert f"rows[48] {memory}" in outline(lowered(BLUR, schedule))
    agrees(BLUR, schedule)


def test_small_buffers_are_on_the_stack_and_large_ones_on_the_heap() -> None:
    for width, memory in ((64, "stack"), (4096, "heap")):
        sizes = {"W": width, "H": 64}
        kernel = lowered(BLUR, "rows.compute_at(O, y)", sizes=sizes)
        assert f"rows[{3 * width}] {memory}" in outline(kernel)


def test_registers_that_do_not_fit_are_memory() -> None:
    """A block that a loop indexes is no register, whatever the schedule says."""
    schedule = """
        O.tile(y, x, yo, xo, yi, xi, 4, 8, tail = shift)
        rows.compute_at(O, xo).store_in(registers)"""
    assert "rows[48] auto" in outline(lowered(BLUR, schedule, "promote"))


def test_what_a_window_keeps_is_read_where_it_was_stored() -> None:
    """Addresses wrap: row y is at (y + 1) modulo 4, since the first one is -1."""
    text = show(lowered(BLUR, "rows.store_root().compute_at(O, y)").body)
    assert "rows[(rows_y + 1) % 4 * W + x] =" in text
    for row in ("y", "(y + 1)", "(y + 2)"):
        assert f"{row} % 4 * W" in text
