"""Loops around an instruction, as statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hbc.eqsat.tensors.plan import Part
from hbc.eqsat.tensors.tensor import Dim
from hbc.ir.lang.nodes import Expr, For, LoopKind, Stmt, Var, const_index
from hbc.ir.lang.walk import block

UNROLLED = 4  # steps that are written out
Index = Mapping[Dim, Expr]
"""At which step each loop is."""
Fresh = Callable[[str], str]
"""Gives a new name like this one."""


def nest(
    loops: Sequence[Part],
    fresh: Fresh,
    body: Callable[[Index], Stmt],
    written: int = UNROLLED,
) -> Stmt:
    """The body at every step of the loops. The last step of one that goes beyond the end of its
    dimension is apart, so that masks are constant; up to so many steps are written out."""
    if not loops:
        return body({})
    p, *inner = loops

    def at(index: Expr) -> Stmt:
        return nest(inner, fresh, lambda rest: body({p.dim: index, **rest}), written)

    whole = p.extent if p.extent * p.step <= p.dim.extent else p.extent - 1
    last = [at(const_index(whole))] if whole < p.extent else []
    if whole <= written:
        return block(*(at(const_index(n)) for n in range(whole)), *last)
    var = fresh(p.dim.name)
    loop = For(var, const_index(0), const_index(whole), LoopKind.SERIAL, at(Var(var)))
    return block(loop, *last)
