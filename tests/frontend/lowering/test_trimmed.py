"""Loops end where the last of their steps does nothing whose results are read behind them."""

import pytest

from hbc.frontend.lowering.trimmed import trimmed
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show

ROOTS = {"t": frozenset({"t"}), "i": frozenset({"i"}), "u": frozenset({"u"})}
LOOP = """
for t from 0 count 8 {
    m[t % 2] = m.f32[(t + 1) % 2] + x.f32[t]
    if t < i {
        y[t] = m.f32[t % 2]
    }
}
"""
HELD = "allocate m: f32[2] in stack {{ {} }}"


def is_cut(text: str) -> bool:
    return "count t_count" in show(trimmed(read_stmt(text), ROOTS))


def test_ends_with_the_last_step_that_others_read() -> None:
    cut = show(trimmed(read_stmt(HELD.format(LOOP)), ROOTS))
    assert "let t_count = min(i, 8) - t_from in" in cut
    assert "if" not in cut


@pytest.mark.parametrize(
    "text",
    [
        LOOP,  # `m` is an argument
        HELD.format(LOOP + "y[9] = m.f32[1]"),
        HELD.format(f"for u from 0 count 3 {{ {LOOP} }}"),  # the next round begins with it
        HELD.format(LOOP.replace("t < i", "i <= t")),  # later steps read what earlier ones made
        HELD.format(LOOP.replace("m[t % 2] =", "y[t + 8] = 0.0:f32\nm[t % 2] =")),
    ],
)
def test_does_all_steps_that_others_need(text: str) -> None:
    assert not is_cut(text)


ROWS = """
{} {{
    for k from 0 count 100 {{
        {} {{
            if p.i64[i] <= 8 * k + u & 8 * k + u < p.i64[i + 1] {{
                y[u] = y.f32[u] + x.f32[8 * k + u]
            }}
        }}
    }}
}}
"""
LANES, STEPS = "vector u from 0 count 8", "for u from 0 count 8"


@pytest.mark.parametrize(
    ("outer", "inner", "row"),
    [
        (LANES, "for i from w count 1", "w"),
        ("for i from 0 count 9", LANES, "i"),
        ("for i from 0 count 9", STEPS, "i"),
    ],
)
def test_is_cut_as_little_as_any_lane_or_iteration_inside_needs(
    outer: str, inner: str, row: str
) -> None:
    cut = show(trimmed(read_stmt(ROWS.format(outer, inner)), ROOTS))
    assert f"let k_from = max(p.i64[{row}] / 8, 0) in" in cut
    assert f"let k_count = min((p.i64[{row} + 1] - 1) / 8 + 1, 100) - k_from in" in cut
    assert ("if " in cut) == (inner != STEPS)


@pytest.mark.parametrize(
    ("outer", "inner"), [("vector i from 0 count 8", LANES), (LANES, "for i from w count 2")]
)
def test_intervals_of_several_lanes_or_iterations_cut_nothing(outer: str, inner: str) -> None:
    assert "k_from" not in show(trimmed(read_stmt(ROWS.format(outer, inner)), ROOTS))
