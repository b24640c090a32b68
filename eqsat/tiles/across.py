"""Fragments that are loaded across the end of what they are of, where the other factor is 0 there.

    tile = s[.. if lane < 15]   ->   tile = s[..]       against a filter packed with zeros in row 15

What lies there must have a value: it is in shared memory that the block fills whole. As with the zeros of
a banded matrix, what adds nothing adds 0 * x.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.eqsat.operands.operand import UNUSED, Access, access, operand_value, points, starts_of
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.tensors.plan import Plan
from hbc.eqsat.tensors.points import FAR, Points
from hbc.eqsat.tensors.steps import Index
from hbc.eqsat.tensors.tensor import Dim, Read, Tensor, strides_along
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES_OF_LANES


def loaded_across(
    x: Tensor, n: int, other: Tensor, with_n: int, plan: Plan, index: Index, frames: Frames
) -> ir.Expr | None:
    """Factor `n` without the mask of what the other one, number `with_n`, is 0 beyond; None where it has
    none, or must have it."""
    if not isinstance(x, Read) or plan.instruction.place.memory not in TILES_OF_LANES:
        return None
    starts = starts_of(plan, index)
    at, there = points(plan, n, starts), points(plan, with_n, starts)
    if access(other, plan, with_n, there) is not Access.PACKED:
        return None
    zero = {d for d in (*strides_along(other), UNUSED) if _moves_alike(d, at, there)}
    places = {d: replace(q, extent=FAR) if d in zero else q for d, q in at.places.items()}
    made = operand_value(x, replace(at, places=places))
    masked = operand_value(x, at)
    if made == masked or not isinstance(made, ir.Load) or not frames.is_there(made):
        return None
    return made


def _moves_alike(d: Dim, a: Points, b: Points) -> bool:
    """Whether a dimension goes along the same lanes in both."""
    ways = [
        sorted((n, s) for n, s in zip(p.extents, p.places[d].steps, strict=True) if s)
        for p in (a, b)
        if d in p.places
    ]
    return len(ways) == 2 and ways[0] == ways[1]
