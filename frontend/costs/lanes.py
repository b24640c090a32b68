"""Which variable of a Func becomes the lanes of its vectors, and which the rows of a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hbc.frontend.costs.blocks import Operand
from hbc.frontend.costs.moves import NEAR, Move, move
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions

FEW = 8  # values of a variable that are too few for lanes, if another has more


def lane_variable(
    variables: Sequence[str], extents: Sequence[int], reads: Iterable[ir.Access]
) -> str | None:
    """The last variable, whose values are neighbours in memory; where it has few, the one along
    which most is read in order."""
    if not variables:
        return None
    last = variables[-1]
    if extents[-1] >= FEW or max(extents) < FEW:
        return last
    accesses = list(reads)

    def worth(v: str) -> tuple[int, int]:
        good = sum(move(a, v) in NEAR for a in accesses)
        return good, variables.index(v)

    long = [v for v, n in zip(variables, extents, strict=True) if n >= FEW]
    return max(long, key=worth)


def row_variable(
    variables: Sequence[str], extents: Sequence[int], lane: str | None, reads: Sequence[ir.Access],
    reduce: Sequence[str],
) -> str | None:  # fmt: skip
    """The variable along which a step of sums reads something again: an operand that does not move,
    or one of which rows meet at another step of the reduction. The innermost of the best."""
    best, most = None, 0.0
    for v, n in zip(variables, extents, strict=True):
        if v == lane or n < 2:
            continue
        worth = 0.0
        for a in reads:
            lanes = Move.FIXED if lane is None else move(a, lane)
            if move(a, v) is Move.FIXED and lanes is not Move.FIXED:
                worth += 2.0
            elif slides(a, v, reduce):
                worth += 1.0
        if worth >= most and worth > 0:
            best, most = v, worth
    return best


def slides(a: ir.Access, v: str, reduce: Iterable[str]) -> bool:
    """Whether an index is a sum of the variable and a reduction, as in a convolution."""
    return any(mentions(i, v) and any(mentions(i, r) for r in reduce) for i in a.indices)


def operand(a: ir.Access, rows: str | None, lane: str | None, reduce: Sequence[str]) -> Operand:
    """How an access moves along both."""
    along = Move.FIXED if lane is None else move(a, lane)
    moving = along is not Move.FIXED
    return Operand(
        Move.FIXED if rows is None else move(a, rows),
        along,
        moving and rows is not None and slides(a, rows, reduce),
        rows is None and along is Move.NEXT and lane is not None and slides(a, lane, reduce),
    )
