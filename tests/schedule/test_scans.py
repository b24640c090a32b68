"""Pins how scans run: what they overwrite is not computed first, and lanes that need not wait."""

from __future__ import annotations

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
