"""Pins how scans run: what they overwrite is not computed first, and lanes that need not wait."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline, refusal

SCAN = """
    size W
    input X: f32[W, 2]
    output Y: f32[W, 2]
    reduce t in 4 .. W
    Y[i, c] = X[i, c] + 1
    Y[t, c] = X[t, c] + 0.5 * Y[t - 4, c]
"""


def test_what_a_scan_overwrites_is_not_computed_first() -> None:
    assert outline(lowered(SCAN, "Y.update.reorder(t, c)", after="lower")) == expected("""
        t_n = max(W - 4, 0)
        i: min(W - 1, 3) + 1
          c: 2
            Y = ..
        t: t_n from 4
          c: 2
            Y = ..
    """)
    agrees(SCAN, "Y.update.reorder(t, c)")


def test_a_scan_that_reads_ahead_needs_it_all() -> None:
    program = SCAN.replace("Y[t - 4, c]", "(Y[t - 4, c] + Y[t, c])")
    assert "i: W" in outline(lowered(program, ""))
    agrees(program, "")


def test_a_scan_under_a_condition_needs_it_all() -> None:
    program = SCAN.replace("Y[t - 4, c]", "Y[t - 4, c] where X[t, c] > 0")
    assert "i: W" in outline(lowered(program, ""))
    agrees(program, "")


def test_an_update_between_may_read_the_first_values() -> None:
    program = SCAN.replace("    Y[t, c] =", "    Y[k, c] = Y[7 - k, c] where W > 7\n    Y[t, c] =")
    program = program.replace("reduce t", "reduce k in 4, t")
    assert "i: W" in outline(lowered(program, ""))
    agrees(program, "")


def test_lanes_within_the_distance_of_a_scan() -> None:
    agrees(SCAN, "Y.update.split(t, to, ti, 4).reorder(to, ti, c).vectorize(ti).vectorize(c)")
    agrees(SCAN, "Y.update.split(t, to, ti, 2, tail = guard).reorder(to, c, ti).vectorize(ti)")


def test_more_lanes_than_the_distance_are_refused() -> None:
    text = refusal(SCAN, "Y.update.split(t, to, ti, 8).reorder(to, c, ti).vectorize(ti)")
    assert text.startswith("cannot vectorize `ti`: each step of the scan along `t` reads")
    text = refusal(SCAN, "Y.update.split(t, to, ti, 4).reorder(c, ti, to).vectorize(to)")
    assert "`to`" in text


STEPS = """
    size H, W
    input A: f32[W]
    output O: f32[W]
    output Q: f32[H, W]
    reduce t in 1 .. H, x in 1 .. W - 1, q in W
    u[s, i] = A[i]
    u[t, x] = (u[t - 1, x - 1] + u[t - 1, x] + u[t - 1, x + 1]) / 3 where u[t - 1, x + 1] > 0.25
    O[i] = u[H - 1, i]
    Q[s, i] = A[i]
    Q[t, q] = max(Q[t - 1, W - 1 - q], Q[t - 1, clamp(q + 3, 0, W - 1)] / 2)
    require 2 <= W and 1 <= H
"""


@pytest.mark.parametrize(
    "schedule", ["vectorize(x, 8)", "parallel(x)", "split(x, xo, xi, 4).vectorize(xi)"]
)
def test_what_reads_all_of_the_step_before_runs_in_lanes_and_threads(schedule: str) -> None:
    agrees(STEPS, f"u.update.{schedule}\nQ.update.vectorize(q, 4)")


@pytest.mark.parametrize(
    ("read", "schedule"),
    [
        ("u[t, x - 1]", "vectorize(x, 8)"),
        ("u[t + 1, x - 1]", "parallel(x)"),
        ("u[t - 1, x - 1]", "fuse(t, x, f).vectorize(f, 4)"),
        ("u[t - 1, x - 1]", "vectorize(t, 4)"),
        ("u[t - 1, x - 1]", "split(x, xo, xi, 8).reorder(xo, t, xi).vectorize(xi)"),
    ],
)
def test_what_reads_of_its_own_step_or_leaves_it_does_not(read: str, schedule: str) -> None:
    refusal(STEPS.replace("u[t - 1, x - 1]", read), f"u.update.{schedule}")


# Weights of which the largest so far is 1, and their sum: one pass over X.
ONE_PASS = """
    size H, W
    input X: f32[H, W]
    output O: f32[H]
    reduce r in W, t in W
    most[i, s] = -inf
    most[i, r] = max(most[i, r - 1], X[i, r])
    sum[i] = 0.0
    sum[i] = sum[i] * exp(most[i, t - 1] - most[i, t]) + exp(X[i, t] - most[i, t])
    O[i] = sum[i]
"""


def test_a_window_of_a_scan_slides() -> None:
    """Each iteration runs the one step that is new; the two that it reads are kept."""
    schedule = "sum.compute_at(O, i); most.store_at(O, i).compute_at(sum.update, t)"
    assert outline(lowered(ONE_PASS, schedule)) == expected("""
        i: H
          most[2] stack
          sum[1] stack
          sum = ..
          t: W
            most_s_new = select(t == 0, t - 1, t)
            s: max(-most_s_new, 0) from most_s_new
              most = ..
            most = ..
            sum = ..
          O = ..
    """)
    agrees(ONE_PASS, schedule)


def test_windows_of_scans_over_pieces() -> None:
    """Of a split loop, and stored outside of all loops."""
    split = "sum.compute_at(O, i); sum.update.split(t, to, ti, 4); "
    agrees(ONE_PASS, split + "most.store_at(O, i).compute_at(sum.update, to)")
    agrees(ONE_PASS, split + "most.store_at(sum.update, to).compute_at(sum.update, ti)")
    agrees(ONE_PASS, "sum.compute_root(); most.store_root().compute_at(sum.update, t)")
    agrees(ONE_PASS, "sum.compute_root(); most.store_at(sum.update, i).compute_at(sum.update, t)")


def test_a_scan_that_began_before_does_not_slide() -> None:
    """The first iteration would have to run more steps than others: all of them run in each."""
    program = ONE_PASS.replace("t in W", "t in 2 .. W")
    schedule = "sum.compute_at(O, i); most.store_at(O, i).compute_at(sum.update, t)"
    assert "most[W + 1] heap" in outline(lowered(program, schedule))
    agrees(program, schedule)


def test_a_scan_of_what_comes_later_does_not_slide() -> None:
    program = ONE_PASS.replace("X[i, r])", "most[i, r + 1])").replace("= -inf", "= 0.5 * f32(s)")
    schedule = "sum.compute_at(O, i); most.store_at(O, i).compute_at(sum.update, t)"
    agrees(program, schedule)


@pytest.mark.parametrize(
    "pieces",
    [
        "split(t, to, ti, 5).unroll(ti, 2)",
        "split(t, to, ti, 5, tail = guard).split(ti, tm, tn, 3).unroll(tn)",
        "split(t, to, ti, 7).split(to, tp, tq, 3).unroll(ti, 2)",
        "split(t, to, ti, 5).unroll(ti, 2).fuse(to, ti, fu)",
        "split(t, to, ti, 7).split(ti, tm, tn, 2).fuse(tm, tn, fu)",
        "split(t, to, ti, 5).split(c, co, ci, 3).reorder(co, to, ci, ti).unroll(ti, 2)",
        "split(t, to, ti, 5).split(to, tp, tq, 4).split(ti, tm, tn, 3).reorder(tp, tq, c, tm, tn)",
    ],
)
@pytest.mark.parametrize("distance", [1, 3])
def test_the_last_pieces_of_a_scan_stay_in_order(pieces: str, distance: int) -> None:
    """Where each piece is split again, its last part comes before the next piece."""
    program = SCAN.replace("t - 4", f"t - {distance}").replace(", 2]", ", 5]")
    agrees(program, f"Y.update.{pieces}", "c", "avx2")


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_with_a_factor_the_loop_in_lanes_is_asked(lanes: int) -> None:
    """Not the one around it that the split makes, whose iterations follow each other."""
    directives = f"Y.update.reorder(c, t).vectorize(t, {lanes})"
    assert "vector t_v" in outline(lowered(SCAN, directives, after="lower"))
    agrees(SCAN, directives)
