"""Conditions that an instruction cannot leave products out by: `where i + j < n` on a tile.

Where a factor is 0 an instruction adds 0. So a condition is brought to a factor that moves along all
that the condition moves along. One on rows and columns at once suits neither factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hbc.eqsat.choosing.miss import APART, Miss
from hbc.eqsat.choosing.nearest import nearest
from hbc.eqsat.choosing.terms import sums
from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.tensor import Masked, Read, Tensor, parts, strides_along
from hbc.ir.lang.instruction import Instruction

WHAT = (
    "its condition is on rows and columns at once, and products can be left out by one of them only"
)
CHOOSE = "add up all products, and choose among the sums where they are used: `select(.., .., 0)`"


def condition_miss(s: Statement, instructions: Sequence[Instruction]) -> Miss | None:
    """For a statement with a condition that moves along more than each of the arrays that it multiplies."""
    crossing: list[Tensor] = []
    for total in sums(s.value):
        moves = [strides_along(r) for r in _arrays(total.value)]
        conditions = (*s.mask, *_conditions(total.value)) if len(moves) > 1 else ()
        crossing += [c for c in conditions if not any(strides_along(c) <= m for m in moves)]
    if not crossing:
        return None
    edit = CHOOSE if all(c in s.mask for c in crossing) else APART
    return Miss(nearest(s.value, instructions), WHAT, edit, is_condition=True)


def _conditions(x: Tensor) -> Iterator[Tensor]:
    if isinstance(x, Masked):
        yield x.condition
    for p in parts(x):
        yield from _conditions(p)


def _arrays(x: Tensor) -> Iterator[Read]:
    """What is read, but for conditions."""
    if isinstance(x, Read):
        yield x
    for p in (x.value,) if isinstance(x, Masked) else parts(x):
        yield from _arrays(p)
