"""Operands that are packed for fragments whose lanes know their elements: lane by lane, so that what a lane
has of one is a vector.

    P[16 * n + 4 * (k / 2 % 4) + 2 * (k / 8) + k % 2] = B[k, n]     for mma.sync's m16n8k16
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from hbc.eqsat.operands.operand import UNUSED
from hbc.eqsat.tensors.points import Points
from hbc.eqsat.tensors.tensor import Tensor, strides_along
from hbc.ir.algebra.layout import Layout, normal, to_index
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import TILES_OF_LANES


@record
class LaneOrder:
    """`points`: of the operand in the order in which it is packed. `digits`: of the numbers of its elements,
    the highest first, how many there are and how far apart they are packed."""

    points: Points
    digits: tuple[tuple[int, int], ...]

    def load(self, packed: ir.Expr) -> ir.Expr:
        """The operand in its own order, of the load of all that is packed."""
        assert isinstance(packed, ir.Load) and isinstance(packed.index, ir.Ramp)
        steps = tuple((n, ir.const_index(apart)) for n, apart in self.digits)
        index = to_index(normal(Layout(packed.index.base, steps)))
        return ir.Load(packed.buffer, index, packed.type)


def lane_order(i: Instruction, operand: int, x: Tensor, at: Points) -> LaneOrder | None:
    """How an operand with these points is packed; None where it lies in its own order."""
    if i.place.memory not in TILES_OF_LANES or not i.fragments or operand in i.shared:
        return None
    if not _varies_along_all(x, at):
        return None
    from hbc.ir.meaning.fragment_layout import elements_of  # imports NumPy

    held = elements_of(i, operand)
    if held.size != at.lanes:
        return None
    places = [0] * held.size  # where the element of a number is packed
    for place, number in enumerate(held.ravel().tolist()):
        places[number] = place
    digits = _digits(places, at.extents)
    return None if digits is None else LaneOrder(_reordered(at, digits), digits)


def _varies_along_all(x: Tensor, at: Points) -> bool:
    """Whether no element of the operand is there several times, which are packed once."""
    dims = strides_along(x) | {UNUSED}
    moved = [q.steps for d, q in at.places.items() if d in dims]
    return all(any(steps[n] for steps in moved) for n in range(len(at.extents)))


def _digits(places: list[int], extents: tuple[int, ...]) -> tuple[tuple[int, int], ...] | None:
    """Binary digits of the numbers, joined where one carries into the next; none is of two extents."""
    if any(n & (n - 1) for n in extents):
        return None
    digits: list[tuple[int, int]] = []
    below = 1  # the value of the digit at hand, from the lowest
    for extent in reversed(extents):
        inner: list[tuple[int, int]] = []
        for _ in range(extent.bit_length() - 1):
            apart = places[below]
            if inner and apart == inner[-1][0] * inner[-1][1]:
                inner[-1] = inner[-1][0] * 2, inner[-1][1]
            else:
                inner.append((2, apart))
            below *= 2
        digits += inner
    made = [0]
    for n, apart in digits:
        made = [place + apart * k for k in range(n) for place in made]
    return tuple(reversed(digits)) if made == places else None


def _reordered(at: Points, digits: tuple[tuple[int, int], ...]) -> Points:
    """The points with a lane for each digit, the farthest apart first."""
    own: list[tuple[int, int, int, int]] = []  # apart, extent, which one it is of, its value there
    left = list(digits)
    for which, extent in enumerate(at.extents):
        value = extent
        while value > 1:
            n, apart = left.pop(0)
            value //= n
            own.append((apart, n, which, value))
    own.sort(reverse=True)
    places = {
        d: replace(q, steps=tuple(q.steps[which] * value for _, _, which, value in own))
        for d, q in at.places.items()
    }
    extents = tuple(n for _, n, _, _ in own)
    assert prod(extents) == at.lanes
    return Points(extents, places, at.known)
