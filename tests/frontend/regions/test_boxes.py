"""Pins which part of a Func is computed: no more than its readers reach where their `where` holds."""

from __future__ import annotations

from outlines import agrees, lowered, outline

SUM = """
    size W, H
    input A: f32[H, W]
    output sum: f32[H]
    reduce i in W
    twice[y, x] = A[y, x] + A[y, x]
    sum[y] = 0
    sum[y] += twice[y, i]
"""
FACTORED = """
    twice.compute_root()
    sum.update.split(i, io, ii, 8).rfactor(ii, u)
    sum_u.compute_root()
"""


def test_partial_sums_reach_no_further_than_the_input() -> None:
    assert "twice[H * W] heap" in outline(lowered(SUM, FACTORED))
    agrees(SUM, FACTORED)


def test_partial_sums_of_one_piece() -> None:
    agrees(
        SUM,
        """
        sum.update.split(i, io, ii, 8).rfactor(ii, u)
        sum_u.compute_at(sum.update, y).vectorize(u)
        sum_u.update.reorder(y, io, u).vectorize(u)
        twice.compute_at(sum_u.update, io)
        """,
        "avx512",
        "c",
    )


TRIANGLE = """
    size W, H
    input A: f32[W]
    output f: f32[H]
    reduce i in W, j in W
    copy[x] = A[x]
    f[y] = 0
    f[y] += copy[i + j] where i + j < W
"""


def test_a_condition_on_two_variables() -> None:
    assert "copy[W] heap" in outline(lowered(TRIANGLE, "copy.compute_root()"))
    agrees(TRIANGLE, "copy.compute_root()")


MIRRORED = """
    size W, H
    input A: f32[H, W]
    output f: f32[H, W]
    f[y, x] = mirror(A)[y - 3, x + 2] + mirror(A)[y, x - 1]
"""


def test_a_mirrored_input_is_copied_to_its_end_only() -> None:
    agrees(MIRRORED, "A.in(f).compute_root()")
    agrees(MIRRORED, "f.split(x, xo, xi, 8); A.in(f).compute_at(f, xo)")


def test_vectors_of_partial_sums_unrolled() -> None:
    mean = """
        size W, H
        input A: f32[H, W]
        output mean: f32[H]
        reduce x in W
        sum[y] = 0
        sum[y] += A[y, x]
        mean[y] = sum[y] / f32(W)
    """
    agrees(
        mean,
        """
        sum.compute_at(mean, y)
        sum.update.split(x, xo, xi, 16).rfactor(xi, u)
        sum_u.compute_at(sum.update, y).vectorize(u)
        sum_u.update.reorder(y, xo, u).vectorize(u).unroll(xo, 4)
        """,
    )


def test_where_a_condition_does_not_hold_nothing_beyond_the_input_is_read() -> None:
    """Outside, the condition says that x is below H; inside, at one x and y, it may be false."""
    triangle = """
        size W, H
        input A: f32[H]
        output f: f32[W]
        reduce y in H
        g[x] = A[x] * 2.0
        f[x] = 0
        f[x] += g[x] where y >= x
    """
    agrees(triangle, "g.compute_at(f.update, y)", "c")
    agrees(triangle, "g.compute_root(); A.in(g).compute_at(g, x); f.update.reorder(y, x)", "c")


SCAN = """
    input A: i32[10, 10]
    output f: i32[5]
    reduce r in 1 .. 5
    g[x, y] = A[x, y + 3]
    g[x, r] = g[x, r - 1] + i32(r)
    f[x] = g[x, x - 3] + g[x, x]
"""


def test_what_a_scan_overwrites_is_not_computed_from_a_copy_that_lacks_it() -> None:
    agrees(SCAN, "g.compute_at(f, x); A.in(g).compute_at(f, x)")


ROWS_OF_A_PIECE = """
    size W, H
    input A: i32[H + 5, W]
    output f: i32[H, W]
    reduce r in 2 .. H
    g[y, x] = A[y + 2, x]
    f[y, x] = g[y % 3, x] + g[y - 2, x]
    f[r, x] = f[r - 2, x] + i32(r)
"""


def test_what_is_computed_further_in_reads_no_more_than_a_copy_further_out_has() -> None:
    pieces = "f.reorder(x, y).split(y, yo, yi, 4, tail = shift)"
    agrees(ROWS_OF_A_PIECE, f"{pieces}; g.compute_at(f, yo); A.in(g).compute_at(f, x)")
