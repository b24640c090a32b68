"""A plan carried out with the instruction's own semantics gives the contraction, for every
instruction described and several ways to assign the dimensions. Points beyond the end of a dimension
are 0 in the factors and are not stored."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from hbc.eqsat.tensors.plan import Contraction, Part, Plan, plans
from hbc.eqsat.tensors.tensor import Dim, Dims
from hbc.frontend.isa.load import describe, load_instructions, read_source
from hbc.ir.ground.source import Source
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction, Kind, Overflow
from hbc.ir.meaning.contraction import extents, shape, strides
from hbc.ir.meaning.instruction_semantics import execute
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = npt.NDArray[np.generic]
ISA = sorted((Path(__file__).parents[3] / "codegen" / "isa").glob("*.hb"))
INSTRUCTIONS = tuple(
    i
    for i in load_instructions(ISA).instructions
    if i.rounding.overflow is Overflow.WRAPS  # a saturating sum has another meaning
)


def contraction(outputs: Dims, summed: Dims, a: str, b: str) -> Contraction:
    """A and B move along the dimensions of those letters."""
    every = (*outputs, *summed)
    moves = [frozenset(d for d in every if d.name in letters) for letters in (a, b)]
    return Contraction(outputs, summed, *moves)


PRODUCT = contraction((Dim("i", 16), Dim("j", 32)), (Dim("k", 64, True),), "ik", "jk")
OUTER = contraction((Dim("i", 4), Dim("j", 16)), (), "i", "j")
ROWS = contraction((Dim("i", 12), Dim("j", 16)), (Dim("k", 12, True),), "ik", "jk")
BATCHES = contraction((Dim("n", 16), Dim("i", 2)), (Dim("k", 8, True),), "nik", "nk")
TWO_SUMS = contraction(
    (Dim("i", 2), Dim("j", 16)), (Dim("k", 8, True), Dim("l", 3, True)), "ikl", "jkl"
)
WINDOWS = contraction((Dim("n", 3), Dim("i", 16)), (Dim("k", 18, True),), "nk", "ik")
BLOCKS = contraction(
    (Dim("n", 3), Dim("i", 4), Dim("j", 5)), (Dim("k", 6, True), Dim("l", 2, True)), "nikl", "jkl"
)
PRIME = contraction((Dim("i", 3), Dim("j", 5)), (Dim("k", 7, True),), "ik", "jk")
SMALL = contraction((Dim("i", 2), Dim("j", 16)), (Dim("k", 16, True),), "ik", "jk")
ODD = contraction((Dim("i", 3), Dim("j", 16)), (Dim("k", 12, True),), "ik", "jk")
CONTRACTIONS = {
    "product": SMALL, "outer": OUTER, "odd": ODD, "batches": BATCHES, "two_sums": TWO_SUMS,
    "blocks": BLOCKS, "prime": PRIME, "windows": WINDOWS,
}  # fmt: skip


def values(random: np.random.Generator, element: np.dtype[np.generic], extents: list[int]) -> Array:
    """Small integers, so that sums in any order and type are the same."""
    low = 0 if element.kind == "u" else -3
    return random.integers(low, 4, extents).astype(element)


def carried_out(p: Plan, c: Contraction, operands: dict[str, Array]) -> Array:
    """The accumulator after all instructions of the plan."""
    i, sizes = p.instruction, dict(p.sizes)
    first, second = i.factors
    moves = {
        first: c.b if p.swapped else c.a,
        second: c.a if p.swapped else c.b,
        i.accumulator: frozenset(c.outputs),
    }
    shapes = [shape(i, n, sizes) for n in range(len(i.operands))]
    count = prod(o.extent for o in p.outer)
    factors = {}
    for n in i.factors:
        o = i.operands[n]
        step, held, element = met(p, c, n, moves[n], operands[o.name])
        flat = np.zeros((count, prod(shapes[n])), numpy_dtype(o.element))
        flat[step, held] = operands[o.name].reshape(-1)[element]
        factors[o.name] = flat.reshape(count, *shapes[n])
    o = i.operands[i.accumulator]
    result = operands[o.name]
    step, held, element = met(p, c, i.accumulator, moves[i.accumulator], result)
    ends = np.searchsorted(step, np.arange(1, count))
    each = zip(np.split(held, ends), np.split(element, ends), strict=True)
    for s, (lane, places) in enumerate(each):
        before = np.zeros(prod(shapes[i.accumulator]), numpy_dtype(o.element))
        before[lane] = result.flat[places]
        arrays = {name: x[s] for name, x in factors.items()}
        arrays[o.name] = before.reshape(shapes[i.accumulator])
        result.flat[places] = execute(i, arrays, sizes).reshape(-1)[lane]
    return result


def met(
    p: Plan, c: Contraction, n: int, moves: frozenset[Dim], x: Array
) -> tuple[Array, Array, Array]:
    """Of each point of each execution where operand `n`, which holds elements of `x`, has one: the number of
    the execution, the position of the element in the operand, and in `x`."""
    i, dims = p.instruction, (*c.outputs, *c.summed)
    lanes = np.indices(extents(i, dict(p.sizes))).reshape(len(i.rows), -1)
    at, counts = points(p, dims, lanes)
    outer = np.array(list(product(*(range(o.extent) for o in p.outer))), np.int64)
    moved = {d: np.zeros((len(outer), 1), np.int64) for d in dims}
    for o, step in zip(p.outer, outer.T, strict=True):
        moved[o.dim] += step[:, None] * o.step
    # From one execution to the next points go up: those beyond the end at first always are.
    ever = np.flatnonzero(np.logical_and.reduce([counts, *(at[d] < d.extent for d in moves)]))
    there = np.ones((len(outer), len(ever)), bool)
    element = np.zeros((len(outer), len(ever)), np.int64)
    for d, stride in zip(dims, x.strides, strict=True):
        if d in moves:
            point = at[d][ever] + moved[d]
            there &= point < d.extent
            element += point * (stride // x.itemsize)
    which, lane = np.nonzero(there)
    held = np.asarray(strides(i, n, dict(p.sizes))) @ lanes[:, ever]
    return which, held[lane], element[there]


def points(p: Plan, dims: Dims, lanes: Array) -> tuple[dict[Dim, Array], Array]:
    """Which point of the box belongs to each step of the instruction's loops, and whether it counts:
    of a summed row that covers nothing, the first step does."""
    at = {d: np.zeros(lanes.shape[1], np.int64) for d in dims}
    counts = np.ones(lanes.shape[1], bool)
    for row, parts, lane in zip(p.instruction.rows, p.rows, lanes, strict=True):
        if not parts and row.kind in (Kind.K, Kind.SUM):
            counts &= lane == 0
        for n, part in enumerate(parts):
            step, lane = np.divmod(lane, prod(q.extent for q in parts[n + 1 :]))
            at[part.dim] = at[part.dim] + step * part.step
    return at, counts


# All instructions with what is hardest, and one of each table of rows with everything. Of those of groups of
# warps, whose points take seconds, the smallest of each table with what is hardest.
EVERYWHERE = ("blocks", "prime")
TABLES = {i.rows: i for i in INSTRUCTIONS}
TILE = 16  # rows, where a size says how many
LARGE, LARGEST = 1 << 14, 1 << 16  # points


def tried(i: Instruction, name: str) -> bool:
    size = prod(int(const_value(row.extent) or TILE) for row in i.rows)
    if size > LARGE:
        return size <= LARGEST and name in EVERYWHERE and i in TABLES.values()
    return name in EVERYWHERE or i in TABLES.values()


CASES = [(i, n) for i in INSTRUCTIONS for n in CONTRACTIONS if tried(i, n)]


@pytest.mark.parametrize(("i", "name"), CASES, ids=lambda x: x if isinstance(x, str) else x.name)
def test_plans_compute_the_contraction(i: Instruction, name: str) -> None:
    c = CONTRACTIONS[name]
    every = list(plans(c, i))
    wasteful = [p for p in every if p.waste > 1]
    for p in dict.fromkeys([*every[:2], *every[-1:], *wasteful[:1]]):
        assert_plan(p, c)


def assert_plan(p: Plan, c: Contraction) -> None:
    """The plan carried out gives the sums that NumPy gives."""
    i, dims = p.instruction, (*c.outputs, *c.summed)
    random = np.random.default_rng(3)
    elements = [numpy_dtype(i.operands[n].element) for n in (*i.factors, i.accumulator)]
    first, second = (c.b, c.a) if p.swapped else (c.a, c.b)
    arrays = [
        values(random, e, [d.extent if d in moves else 1 for d in dims])
        for e, moves in zip(elements, (first, second, frozenset(c.outputs)), strict=True)
    ]
    a, b, start = (x.astype(np.int64) for x in arrays)
    axes = tuple(range(len(c.outputs), len(dims)))
    full = np.broadcast_to(a * b, [d.extent for d in dims])
    want = start + full.sum(axes, keepdims=True)
    names = [i.operands[n].name for n in (*i.factors, i.accumulator)]
    got = carried_out(p, c, dict(zip(names, arrays, strict=True)))
    np.testing.assert_array_equal(got.astype(np.int64), want)


def found(name: str, c: Contraction) -> list[Plan]:
    (i,) = (x for x in INSTRUCTIONS if x.name == name)
    return list(plans(c, i))


def test_a_tile_takes_the_largest_sizes() -> None:
    best = min(found("tdpbf16ps", PRODUCT), key=lambda p: p.cycles)
    assert dict(best.sizes) == {"M": 16, "N": 16, "K": 32}
    assert best.count == 2 * 2
    j, k = PRODUCT.outputs[1], PRODUCT.summed[0]
    assert best.outer == (Part(j, 2, 16), Part(k, 2, 32))
    assert best.waste == 1


def test_a_tile_shrinks() -> None:
    best = min(found("tdpbf16ps", ROWS), key=lambda p: p.cycles)
    assert dict(best.sizes) == {"M": 12, "N": 16, "K": 12}
    assert best.count == 1


def test_bytes_come_in_fours() -> None:
    best = min(found("vpdpbusd_zmm", PRODUCT), key=lambda p: p.cycles)
    j, k = PRODUCT.outputs[1], PRODUCT.summed[0]
    wanted = ((Part(j, 16, 1),), (Part(k, 4, 1),))
    assert wanted in [p.rows for p in found("vpdpbusd_zmm", PRODUCT)]
    assert best.count == 16 * 32 * 64 // (16 * 4)


def test_a_row_covers_two_dimensions() -> None:
    """3 x 4 = 12 rows of one tile, and 6 x 2 = 12 of its columns of A."""
    best = min(found("tdpbssd", BLOCKS), key=lambda p: (p.count, p.waste))
    n, i, j = BLOCKS.outputs
    assert best.count == 1
    assert {tuple(p.dim for p in row) for row in best.rows} >= {(n, i), (j,)}


def test_what_does_not_divide_is_padded() -> None:
    """3 x 5 x 7 in one tile, with 8 bytes in a row of A; and in vectors of 16 lanes."""
    best = {dict(p.sizes)["K"]: p for p in found("tdpbssd", PRIME) if p.count == 1}
    assert best[8].waste == 8 / 7
    assert {dict(best[8].sizes)[n] for n in "MN"} == {3, 5}
    assert any(p.waste > 1 for p in found("vpdpbusd_zmm", PRIME))


SQUARE = """
instruction square(c: i32[S, S], a: i8[S, 4], b: i8[S, 4]) in amx_tile {
    size S <= 4
    reduce k in 4
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "{c} = square({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs amx_tile
"""


@pytest.mark.parametrize("extents_", [(6, 4, 4), (2, 4, 3), (4, 12, 9), (6, 6, 2), (5, 3, 4)])
def test_one_size_for_two_rows(extents_: tuple[int, int, int]) -> None:
    """An instruction may be larger than what one of its rows is to cover; no point counts twice."""
    source = [*map(read_source, ISA), Source("square.hb", SQUARE)]
    (i,) = (x for x in describe(source).instructions if x.name == "square")
    m, n, k = extents_
    c = contraction((Dim("i", m), Dim("j", n)), (Dim("k", k, True),), "ik", "jk")
    assert list(plans(c, i))
    for p in plans(c, i):
        assert_plan(p, c)
