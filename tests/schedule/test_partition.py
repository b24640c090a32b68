"""Pins that serial loops run without a condition up to where it may fail."""

from __future__ import annotations

from outlines import agrees, expected, lowered, outline

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


def dedented(text: str, first: str) -> str:
    """The lines from the first that starts so on, at the left margin."""
    lines = text.splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith(first))
    margin = len(lines[at]) - len(lines[at].lstrip())
    return "\n".join(line[margin:] for line in lines[at:])
