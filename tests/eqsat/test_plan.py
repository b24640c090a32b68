"""A plan carried out with the instruction's own semantics gives the contraction, for every
instruction described and several ways to assign the dimensions."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from hbc.eqsat.plan import Contraction, Part, Plan, plans
from hbc.eqsat.tensor import Dim, Dims
from hbc.frontend.isa_load import load_instructions
from hbc.ir.contraction import shape, strides
from hbc.ir.instruction import Instruction, Overflow
from hbc.ir.instruction_semantics import execute
from hbc.ir.numpy_types import numpy_dtype

Array = npt.NDArray[np.generic]
ISA = sorted((Path(__file__).parents[2] / "codegen" / "isa").glob("*.hb"))
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
SMALL = contraction((Dim("i", 2), Dim("j", 16)), (Dim("k", 16, True),), "ik", "jk")
ODD = contraction((Dim("i", 3), Dim("j", 16)), (Dim("k", 12, True),), "ik", "jk")
CONTRACTIONS = {
    "product": SMALL, "outer": OUTER, "odd": ODD, "batches": BATCHES, "two_sums": TWO_SUMS,
}  # fmt: skip


def values(random: np.random.Generator, element: np.dtype[np.generic], extents: list[int]) -> Array:
    """Small integers, so that sums in any order and type are the same."""
    low = 0 if element.kind == "u" else -3
    return random.integers(low, 4, extents).astype(element)


def along(x: Array, dims: Dims, moves: frozenset[Dim], at: dict[Dim, int]) -> np.generic:
    """The element of a factor at a point of the box."""
    return x[tuple(at[d] if d in moves else 0 for d in dims)]


def carried_out(p: Plan, c: Contraction, operands: dict[str, Array]) -> Array:
    """The accumulator after all instructions of the plan."""
    i, sizes = p.instruction, dict(p.sizes)
    dims = (*c.outputs, *c.summed)
    first, second = (i.operands[n].name for n in i.factors)
    names = {first: c.b if p.swapped else c.a, second: c.a if p.swapped else c.b}
    accumulator = i.operands[i.accumulator].name
    result = operands[accumulator]
    for outer in product(*(range(o.extent) for o in p.outer)):
        base = dict.fromkeys(dims, 0)
        for o, step in zip(p.outer, outer, strict=True):
            base[o.dim] += step * o.step
        arrays = {}
        for n, o in enumerate(i.operands):
            arrays[o.name] = np.zeros(shape(i, n, sizes), numpy_dtype(o.element))
            for place, at in points(i, n, p, base):
                whole = result if o.name == accumulator else operands[o.name]
                moves = frozenset(c.outputs) if o.name == accumulator else names[o.name]
                arrays[o.name].reshape(-1)[place] = along(whole, dims, moves, at)
        after = execute(i, arrays, sizes).reshape(-1)
        for place, at in points(i, i.accumulator, p, base):
            result[tuple(at[d] if d in c.outputs else 0 for d in dims)] = after[place]
    return result


def points(
    i: Instruction, operand: int, p: Plan, base: dict[Dim, int]
) -> list[tuple[int, dict[Dim, int]]]:
    """Positions in an operand of the instruction, and the points of the box that belong there."""
    moved = strides(i, operand, dict(p.sizes))
    extents = [1 if part is None else part.extent for part in p.parts]
    found = []
    for lane in product(*(range(e) for e in extents)):
        at = dict(base)
        for part, step in zip(p.parts, lane, strict=True):
            if part is not None:
                at[part.dim] += step * part.step
        place = sum(s * step for s, step in zip(moved, lane, strict=True))
        found.append((place, at))
    return found


@pytest.mark.parametrize("name", CONTRACTIONS)
@pytest.mark.parametrize("i", INSTRUCTIONS, ids=lambda i: i.name)
def test_plans_compute_the_contraction(i: Instruction, name: str) -> None:
    c = CONTRACTIONS[name]
    random = np.random.default_rng(3)
    dims = (*c.outputs, *c.summed)
    for p in list(plans(c, i))[:4]:
        elements = [numpy_dtype(i.operands[n].element) for n in (*i.factors, i.accumulator)]
        first, second = (c.b, c.a) if p.swapped else (c.a, c.b)
        kinds = (first, second, frozenset(c.outputs))
        arrays = [
            values(random, element, [d.extent if d in moves else 1 for d in dims])
            for element, moves in zip(elements, kinds, strict=True)
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


def test_a_tile_shrinks() -> None:
    best = min(found("tdpbf16ps", ROWS), key=lambda p: p.cycles)
    assert dict(best.sizes) == {"M": 12, "N": 16, "K": 12}
    assert best.count == 1


def test_bytes_come_in_fours() -> None:
    best = min(found("vpdpbusd_zmm", PRODUCT), key=lambda p: p.cycles)
    j, k = PRODUCT.outputs[1], PRODUCT.summed[0]
    assert (Part(j, 16, 1), Part(k, 4, 1)) in [p.parts for p in found("vpdpbusd_zmm", PRODUCT)]
    assert best.count == 16 * 32 * 64 // (16 * 4)


def test_nothing_fits_where_nothing_divides() -> None:
    odd = contraction((Dim("i", 3), Dim("j", 5)), (Dim("k", 7, True),), "ik", "jk")
    assert not found("vpdpbusd_zmm", odd)
