"""Which lane of a warp holds which element of an operand: the layouts that descriptions state.

    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]

says that a lane's element number `element` is that of this row and column. Elements of an operand are
numbered in its row-major order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.walk import substitute
from hbc.ir.meaning.contraction import shape

LANE, ELEMENT = "lane", "element"
Indices = tuple[ir.Expr, ...]
"""Of the dimensions of an operand, over LANE and ELEMENT."""
Numbers = NDArray[np.int64]


def held(indices: Indices, extents: Sequence[int], lanes: int) -> Numbers | None:
    """[lane, element]: the number of the operand's element; None where it is none."""
    each = prod(extents) // lanes
    values = {LANE: np.arange(lanes)[:, None], ELEMENT: np.arange(each)[None, :]}
    number = np.zeros((lanes, each), np.int64)
    for index, extent in zip(indices, extents, strict=True):
        at = evaluated(index, values)
        if at is None or (at < 0).any() or (at >= extent).any():
            return None
        number = number * extent + at
    return number


def is_partition(number: Numbers, extents: Sequence[int]) -> bool:
    """Whether each element of the operand is one lane's, once."""
    return np.array_equal(np.sort(number, axis=None), np.arange(prod(extents)))


@cache
def elements_of(i: Instruction, operand: int) -> Numbers:
    """[lane, element]: the numbers of the operand's elements. InternalError for an instruction that
    does not say."""
    if not i.fragments:
        raise InternalError(f"fragments: `{i.name}` does not say which lane holds what")
    number = held(i.fragments[operand], shape(i, operand, {}), i.place.lanes)
    if number is None:
        raise InternalError(f"fragments: `{i.name}` has lanes with elements that are none")
    return number


def position(i: Instruction, operand: int, lane: ir.Expr, element: int) -> ir.Expr:
    """The number of the operand's element that is a lane's element of this number."""
    number: ir.Expr = ir.const_index(0)
    for index, extent in zip(i.fragments[operand], shape(i, operand, {}), strict=True):
        number = add(mul(number, extent), substitute(index, {ELEMENT: ir.const_index(element)}))
    return canonical(substitute(number, {LANE: lane}))
