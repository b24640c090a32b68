"""Where buffers live after the last pass, and how the partial pieces of reductions run."""

from __future__ import annotations

from outlines import agrees, lowered

from hbc.ir.lang.nodes import Allocate, For, LoopKind, const_index
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes

STRIPS = """
size   H, W
input  I: f32[H + 1, W]
output O: f32[H, W]
twice[y, x] = I[y, x] * 2.0
O[y, x]     = twice[y, x] + twice[y + 1, x]
"""

SUMS = """
size   W, H
input  I: f32[W + H - 1]
output O: f32[W]
reduce r in H
acc[x]  = 0.0
acc[x] += I[x + r]
O[x]    = acc[x]
"""

PAIRS = """
size   W
input  I: f32[W]
output O: f32[2 * W]
both[x, q] = I[x] * f32(q + 1)
O[x]       = both[x / 2, x % 2]
"""


def test_a_buffer_is_allocated_outside_of_serial_loops() -> None:
    schedule = "O.split(y, yo, yi, 4, tail = shift); twice.compute_at(O, yo)"
    body = lowered(STRIPS, schedule, "hoist").body
    first = next(n for n in nodes(body) if isinstance(n, Allocate))
    assert any(isinstance(n, For) and n.var == "yo" for n in nodes(first.body))
    agrees(STRIPS, schedule)


def test_a_parallel_loop_begins_with_its_buffers() -> None:
    schedule = "O.split(y, yo, yi, 4, tail = shift).parallel(yo); twice.compute_at(O, yo)"
    body = lowered(STRIPS, schedule, "hoist").body
    parallel = [n for n in nodes(body) if isinstance(n, For) and n.kind is LoopKind.PARALLEL]
    assert isinstance(parallel[0].body, Allocate)
    agrees(STRIPS, schedule)


def test_the_rest_of_an_unrolled_reduction_is_one_loop() -> None:
    schedule = (
        "O.split(x, xo, xi, 32, tail = shift).vectorize(xi, 8).unroll(xi)"
        "; acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x)"
        "; acc.update.vectorize(x, 8).unroll(x).split(r, ro, ri, 4).reorder(ro, x, ri).unroll(ri)"
    )
    body = lowered(SUMS, schedule, "unroll").body
    rests = [n for n in nodes(body) if isinstance(n, For) and n.var.startswith("ri")]
    assert 1 <= len(rests) <= 2  # one where rows have 32 elements, one where they have fewer
    agrees(SUMS, schedule)


def test_interleaving_reads_registers() -> None:
    schedule = (
        "O.split(x, xo, xi, 32).vectorize(xi, 32)"
        "; both.compute_at(O, xo).bound(q, 0, 2).reorder_storage(q, x).reorder(q, x)"
        ".vectorize(x, 16).unroll(x).unroll(q)"
    )
    body = lowered(PAIRS, schedule, "promote").body
    assert any(isinstance(n, Allocate) and n.memory is Memory.REGISTER for n in nodes(body))
    agrees(PAIRS, schedule)


def test_a_vector_over_the_pieces_of_a_tail() -> None:
    """The outer half of a split has as many lanes as there are pieces, not as the factor says."""
    program = STRIPS.replace("twice[y + 1, x]", "1.0")
    schedule = (
        "O.split(x, xo, xi, 32); "
        "twice.compute_at(O, xo).split(x, xa, xb, 4).reorder(y, xb, xa).vectorize(xa)"
    )
    loops = [n for n in nodes(lowered(program, schedule).body) if isinstance(n, For)]
    assert {n.extent for n in loops if n.kind is LoopKind.VECTOR} == {const_index(8)}
    agrees(program, schedule, "c", "avx2", "avx512")
