"""Pins that serial loops run without a condition up to where it may fail."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline

from hbc.ir.lang.show import show_kernel

LARGEST = """
    size W, H
    input A: f32[H, W]
    output most: f32[H]
    reduce i in W
    most[y] = -inf
    most[y] max= A[y, i]
"""
FACTORED = """
    most.update.split(i, io, ii, 8).rfactor(ii, u)
    most_u.compute_at(most.update, y).vectorize(u)
    most_u.update.reorder(y, io, u).vectorize(u)
"""


def test_only_the_last_piece_of_a_partial_reduction_is_tested() -> None:
    text = outline(lowered(LARGEST, FACTORED, after="partition"))
    assert expected("""
        io: max(min(io_n, W / 8), 0)
          vector u: 8
            most_u = ..
        io: io_n - max(min(io_n, W / 8), 0) from max(min(io_n, W / 8), 0)
          vector u: 8
            if 8 * io + u < W
              most_u = ..
    """) in dedented(text, "io: ")
    agrees(LARGEST, FACTORED)


def test_unrolled_pieces() -> None:
    agrees(LARGEST, FACTORED + ".unroll(io, 4)")


def test_the_nearer_of_two_conditions_ends_it() -> None:
    triangle = """
        size W, H
        input A: f32[W]
        output f: f32[H]
        reduce i in W, j in W
        f[y] = 0
        f[y] += A[i + j] where i + j < W and j <= i
    """
    text = outline(lowered(triangle, "", after="partition"))
    assert text.count("if ") == 1 and text.count("j: ") == 2
    agrees(triangle, "")


def test_conditions_on_data_stay() -> None:
    program = LARGEST.replace("A[y, i]", "A[y, i] where A[y, i] < 0.5")
    text = outline(lowered(program, "", after="partition"))
    assert text.count("if ") == 1 and text.count("i: W") == 1
    agrees(program, "")


CLAMPED = """
    size W, H
    input A: f32[H, W]
    output f: f32[H, W]
    edge = clamp_edge(A)
    f[y, x] = edge[y - 1, x - 1] + edge[y, x] * 2 + edge[y + 1, x + 2]
"""
INTERLEAVED = """
    size W, H
    input A: u8[H, W, 3]
    output f: u8[H, W, 3]
    edge = clamp_edge(A)
    f[y, x, c] = u8((u16(edge[y, x - 1, c]) + u16(edge[y, x, c]) + u16(edge[y, x + 1, c])) / 3)
"""


def vector_loops(program: str, schedule: str, target: str = "avx512") -> list[str]:
    """The bodies of loops in which vectors are, without minima and maxima in what they load from."""
    text = show_kernel(lowered(program, schedule, after="partition", target=target))
    inside = [part.split("}")[0] for part in text.split("vector ")[1:]]
    return [part for part in inside if "min(" not in part and "max(" not in part]


def test_inside_the_edges_no_index_is_held_within_limits() -> None:
    """In the last rows too: they are known to lie in the array."""
    rows = "f.split(y, yo, yi, 4, tail = guard).vectorize(x, 4)"
    for schedule, loops in (("f.vectorize(x, 8)", 1), (rows, 2)):
        program = CLAMPED.replace("y - 1", "y").replace("y + 1", "y")
        assert len(vector_loops(program, schedule)) == loops
        agrees(CLAMPED, schedule)


def test_interleaved_channels_inside_the_edges() -> None:
    schedule = "f.fuse(x, c, xc).vectorize(xc, 8)"
    assert len(vector_loops(INTERLEAVED, schedule)) == 1
    agrees(INTERLEAVED, schedule)


@pytest.mark.parametrize(
    "index", ["x - 3", "2 * x - 1", "x / 2 + 1", "W - 2 - x", "x + 40", "min(x, 5)", "x % 3"]
)
def test_other_indices_of_clamped_arrays(index: str) -> None:
    program = f"""
        size W, H
        input A: u8[H, W]
        output f: u8[H, W]
        edge = clamp_edge(A)
        f[y, x] = edge[y, {index}] + edge[y, x]
    """
    for schedule in ("f.vectorize(x, 4)", "f.split(x, xo, xi, 12).vectorize(xi, 4)"):
        agrees(program, schedule)


def test_an_own_clamp_of_limits_that_cross() -> None:
    """Where the lower limit lies above the upper one, the outer one decides."""
    program = """
        size W, H
        input A: f32[W + 9]
        output f: f32[W]
        f[x] = A[min(max(x - 2, 4), 2 + H % 2)] + A[max(min(x + 1, 3), 5)]
    """
    agrees(program, "f.vectorize(x, 4)")


def test_limits_from_memory_stay() -> None:
    program = """
        size W, H
        input n: i64[H]
        input A: f32[W]
        output f: f32[H, W]
        f[y, x] = A[clamp(x + 1, 0, min(max(n[y], 0), W - 1))]
    """
    text = show_kernel(lowered(program, "f.vectorize(x, 8)", after="partition"))
    assert text.count("vector x_v") == 2
    agrees(program, "f.vectorize(x, 8)")


def test_sums_in_registers_at_the_edges() -> None:
    program = """
        size W, H
        input A: u8[H, W]
        output f: u8[H, W]
        edge = clamp_edge(A)
        reduce r in 3
        most[y, x] = 0
        most[y, x] max= edge[y, x + r - 1]
        f[y, x] = most[y, x]
    """
    agrees(
        program,
        """
        f.vectorize(x, 8)
        most.compute_at(f, x).store_in(registers).vectorize(x).unroll(x)
        most.update.reorder(r, x).vectorize(x).unroll(x).unroll(r)
    """.replace(".unroll(x)", ""),
    )


@pytest.mark.parametrize("edge", ["zero_edge", "clamp_edge"])
def test_the_pieces_of_a_divided_loop_decide_together_about_the_loop_outside(edge: str) -> None:
    """Each piece goes over a part of the loop: limits hold outside of it where they hold in all of them."""
    program = f"""
        size W, H
        input A: f32[W]
        input h: f32[9]
        output f: f32[H, W]
        edge = {edge}(A)
        reduce k in 9
        f[y, n] = 0
        f[y, n] += h[k] * edge[n - k]
    """
    rows = "f.update.split(n, no, ni, 48).reorder(y, no, k, ni).vectorize(ni, 4)"
    agrees(program, rows + ".unroll(ni)", "avx2")
    agrees(program, rows + ".unroll(k, 2).unroll(ni)", "avx2")


def dedented(text: str, first: str) -> str:
    """The lines from the first that starts so on, at the left margin."""
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith(first))
    margin = len(lines[at]) - len(lines[at].lstrip())
    return "\n".join(line[margin:] for line in lines[at:])
