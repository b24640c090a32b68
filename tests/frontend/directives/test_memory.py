"""Pins `bound`, `reorder_storage`, `pad_storage`, `prefetch` and `specialize`."""

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

PAIR = """
size   W
input  I: f32[W]
output O: f32[W]
P = clamp_edge(I)
f[x] = P[x] * 2.0
O[x] = f[x - 1] + f[x + 1]
"""

BLUR = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x]    = rows[y - 1, x] + rows[y, x] + rows[y + 1, x]
"""

WINDOWS = """
size   W, H
input  I: f32[H, W]
input  first: i32[W]
output O: f32[W, W]
require H >= 3, "a window is no taller than the picture"
reduce j in 3
top[g]     = clamp(first[g], 0, H - 3)
acc[y, x]  = 0.0
acc[y, x] += I[top[y / 4] + j, x]
O[y, x]    = acc[y, x]
"""


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.bound(x, 0, 16)",
            """
            check W == 16
            x: 16
              O = ..
            """,
        ),
        (
            "O.bound(x, 0, 16).vectorize(x)",
            """
            check W == 16
            vector x: 16
              O = ..
            """,
        ),
        (
            "O.bound(x, 0, W)",
            """
            x: W
              O = ..
            """,
        ),
    ],
)
def test_bound(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule)) == expected(wanted)
    agrees(LINE, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "f.compute_root().bound(x, -1, 18)",
            """
            check W == 16
            f[18] stack
            x: 18 from -1
              f = ..
            x: W
              O = ..
            """,
        ),
    ],
)
def test_bound_of_what_is_needed(schedule: str, wanted: str) -> None:
    assert outline(lowered(PAIR, schedule)) == expected(wanted)
    agrees(PAIR, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "rows.compute_root().pad_storage(x, 16)",
            """
            rows[16 * ((W + 15) / 16) * (H + 2)] heap
            y: H + 2 from -1
              x: W
                rows = ..
            y: H
              x: W
                O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 8, tail = exact); rows.compute_at(O, xo).pad_storage(x, 16)",
            """
            check W % 8 == 0
            y: H
              xo: W / 8
                rows[48] stack
                rows_y: 3 from y - 1
                  x: 8 from 8 * xo
                    rows = ..
                xi: 8
                  O = ..
            """,
        ),
    ],
)
def test_pad_storage(schedule: str, wanted: str) -> None:
    assert outline(lowered(BLUR, schedule)) == expected(wanted)
    agrees(BLUR, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.prefetch(I, x, 16)",
            """
            x: W
              prefetch I
              O = ..
            """,
        ),
        (
            "O.split(x, xo, xi, 16, tail = exact).prefetch(I, xo, 2)",
            """
            check W % 16 == 0
            xo: W / 16
              prefetch I
              xi: 16
                O = ..
            """,
        ),
    ],
)
def test_prefetch(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule)) == expected(wanted)
    agrees(LINE, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.specialize(W % 8 == 0).vectorize(x, 8)",
            """
            if W % 8 == 0
              x: W / 8
                vector x_v: 8
                  O = ..
            else
              x: W
                O = ..
            """,
        ),
        (
            "O.specialize(W == 16).unroll(x, 4)",
            """
            if W == 16
              x: 4
                unroll x_u: 4
                  O = ..
            else
              x: W
                O = ..
            """,
        ),
        (
            "O.vectorize(x, 8, tail = guard).specialize(W >= 1000).parallel(x)",
            """
            if W >= 1000
              parallel x: W / 8
                vector x_v: 8
                  O = ..
              x_tail = W % 8
              if x_tail > 0
                x_v: x_tail
                  O = ..
            else
              x: W / 8
                vector x_v: 8
                  O = ..
              x_tail = W % 8
              if x_tail > 0
                x_v: x_tail
                  O = ..
            """,
        ),
    ],
)
def test_specialize(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule)) == expected(wanted)
    agrees(LINE, schedule)


def test_reorder_storage() -> None:
    """Addresses, not loops: x is now the outer dimension in memory."""
    plain = lowered(BLUR, "rows.compute_root()")
    turned = lowered(BLUR, "rows.compute_root().reorder_storage(x, y)")
    assert outline(plain) == outline(turned)
    assert "rows[(y + 1) * W + x] =" in show(plain.body)
    assert "rows[x * (H + 2) + y + 1] =" in show(turned.body)
    agrees(BLUR, "rows.compute_root().reorder_storage(x, y)")


def test_prefetch_looks_ahead() -> None:
    assert "prefetch I.f32[x + 16]" in show(lowered(LINE, "O.prefetch(I, x, 16)").body)


def test_prefetch_looks_ahead_by_pieces_of_a_split_loop() -> None:
    """Not where the piece at hand begins, which has a name."""
    text = show(lowered(LINE, "O.split(x, xo, xi, 16).prefetch(I, xo, 2)").body)
    assert "prefetch I.f32[16 * xo + 32]" in text, text


def test_prefetch_names_the_cache() -> None:
    assert "prefetch 2 I.f32[x + 16]" in show(lowered(LINE, "O.prefetch(I, x, 16, L2)").body)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        ("acc.compute_root(); acc.update.reorder(y, j, x).prefetch(I, j, 3)", "top.i64[y / 4]"),
        (
            "O.split(y, yo, yi, 4); acc.compute_at(O, yo); acc.update.reorder(j, y, x)"
            ".prefetch(I, j, 3, L2)",
            "top.i64[yo]",
        ),
        (
            "O.split(y, yo, yi, 6); acc.compute_at(O, yo); acc.update.reorder(j, y, x)"
            ".prefetch(I, j, 3, L3)",
            "top.i64[3 * yo / 2]",
        ),
    ],
    ids=["one row", "rows of one window", "rows of several windows"],
)
def test_prefetch_of_windows(schedule: str, wanted: str) -> None:
    """Where a window begins is read from data: by the prefetch too, which takes no more than it."""
    program = "top.compute_root(); " + schedule
    text = show(lowered(WINDOWS, program).body)
    fetched = next(line for line in text.splitlines() if line.lstrip().startswith("prefetch"))
    assert wanted in fetched, text
    assert "for ahead0" not in text  # a single row
    agrees(WINDOWS, program)
