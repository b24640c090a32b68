"""Pins software pipelining: loads run ahead of their use, in registers that rotate."""

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

PRODUCT = """
size   W, H
input  A: f32[H, W]
input  B: f32[W, H]
output C: f32[H, H]
reduce k in W
acc[i, j] = 0.0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]   = acc[i, j]
"""


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.pipeline(x, 2)",
            """
            if 1 <= W
              I_ahead0[1] registers
              I_ahead0 = ..
              x: W - 1
                I_ahead0 = I_ahead0.f32[0]
                I_ahead0 = ..
                O = ..
              I_ahead0 = I_ahead0.f32[0]
              O = ..
            else
              x: W
                O = ..
            """,
        ),
        (
            "O.pipeline(x, 3)",
            """
            if 2 <= W
              I_ahead0_1[1] registers
              I_ahead0_0[1] registers
              I_ahead0_0 = ..
              I_ahead0_1 = ..
              x: W - 2
                I_ahead0 = I_ahead0_0.f32[0]
                I_ahead0_0 = ..
                I_ahead0_1 = ..
                O = ..
              I_ahead0 = I_ahead0_0.f32[0]
              I_ahead0_0 = ..
              O = ..
              I_ahead0 = I_ahead0_0.f32[0]
              I_ahead0_0 = ..
              O = ..
            else
              x: W
                O = ..
            """,
        ),
        (
            "O.vectorize(x, 8, tail = exact).pipeline(x, 2)",
            """
            check W % 8 == 0
            if 1 <= W / 8
              I_ahead0[8] registers
              I_ahead0 = .. x8
              x: W / 8 - 1
                I_ahead0 = I_ahead0.f32x8[ramp(0, 1, 8)]
                I_ahead0 = .. x8
                O = .. x8
              I_ahead0 = I_ahead0.f32x8[ramp(0, 1, 8)]
              O = .. x8
            else
              x: W / 8
                O = .. x8
            """,
        ),
        (
            "O.vectorize(x, 8).pipeline(x, 2)",
            """
            if 1 <= W / 8
              I_ahead0[8] registers
              I_ahead0 = .. x8
              x: W / 8 - 1
                I_ahead0 = I_ahead0.f32x8[ramp(0, 1, 8)]
                I_ahead0 = .. x8
                O = .. x8
              I_ahead0 = I_ahead0.f32x8[ramp(0, 1, 8)]
              O = .. x8
            else
              x: W / 8
                O = .. x8
            x_tail = W % 8
            if x_tail > 0
              O = .. x8 masked
            """,
        ),
    ],
)
def test_rotation(schedule: str, wanted: str) -> None:
    assert outline(lowered(LINE, schedule, "rotate")) == expected(wanted)
    agrees(LINE, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "acc.compute_at(C, j); acc.update.pipeline(k, 2)",
            """
            i: H
              j: H
                acc[1] registers
                acc = ..
                if 1 <= W
                  B_ahead1[1] registers
                  A_ahead0[1] registers
                  A_ahead0 = ..
                  B_ahead1 = ..
                  k: W - 1
                    A_ahead0 = A_ahead0.f32[0]
                    B_ahead1 = B_ahead1.f32[0]
                    A_ahead0 = ..
                    B_ahead1 = ..
                    acc = ..
                  A_ahead0 = A_ahead0.f32[0]
                  B_ahead1 = B_ahead1.f32[0]
                  acc = ..
                else
                  k: W
                    acc = ..
                C = ..
            """,
        ),
    ],
)
def test_two_streams(schedule: str, wanted: str) -> None:
    assert outline(lowered(PRODUCT, schedule, "rotate")) == expected(wanted)
    agrees(PRODUCT, schedule)


def test_the_loop_loads_for_a_later_iteration() -> None:
    text = show(lowered(LINE, "O.pipeline(x, 3)", "rotate").body)
    assert "I_ahead0_1[0] = I.f32[x + 2]" in text
    assert "O[x] = I_ahead0:f32 * 2.0:f32" in text


def test_what_the_loop_stores_does_not_run_ahead() -> None:
    """A scan's own values are loaded in their turn."""
    scan = """
    size   W
    input  I: f32[W]
    output O: f32[W]
    reduce t in 1 .. W
    O[x] = I[x]
    O[t] = 0.5 * O[t - 1] + I[t]
    """
    text = show(lowered(scan, "O.update.pipeline(t, 2)", "rotate").body)
    assert "I_ahead0" in text
    assert "O_ahead" not in text
    agrees(scan, "O.update.pipeline(t, 2)")


def test_vectors_of_bools_do_not_run_ahead() -> None:
    """They are masks, which registers do not hold; numbers beside them are loaded ahead."""
    program = """
    size   W
    input  I: f32[W, 16]
    input  B: bool[W, 16]
    output O: f32[W, 16]
    O[x, y] = select(B[x, y], I[x, y], 0.0)
    """
    text = show(lowered(program, "O.pipeline(x, 2).vectorize(y)", "rotate").body)
    assert "I_ahead0" in text
    assert "B_ahead" not in text
    agrees(program, "O.pipeline(x, 2).vectorize(y)")
