"""Loops around an instruction, as statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hbc.eqsat.tensors.plan import Part
from hbc.eqsat.tensors.tensor import Dim
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import block

UNROLLED = 4  # steps that are written out
Index = Mapping[Dim, ir.Expr]
"""At which step each loop is."""
Fresh = Callable[[str], str]
"""Gives a new name like this one."""


def nest(
    loops: Sequence[Part],
    fresh: Fresh,
    body: Callable[[Index], ir.Stmt],
    written: int = UNROLLED,
) -> ir.Stmt:
    """The body at every step of the loops. The last step of one that goes beyond the end of its
    dimension is apart, so that masks are constant; up to so many steps are written out."""
    if not loops:
        return body({})
    p, *inner = loops

    def at(index: ir.Expr) -> ir.Stmt:
        return nest(inner, fresh, lambda rest: body({p.dim: index, **rest}), written)

    whole = p.extent if p.extent * p.step <= p.dim.extent else p.extent - 1
    last = [at(ir.const_index(whole))] if whole < p.extent else []
    if whole <= written:
        return block(*(at(ir.const_index(n)) for n in range(whole)), *last)
    var = fresh(p.dim.name)
    loop = ir.For(
        var, ir.const_index(0), ir.const_index(whole), ir.LoopKind.SERIAL, at(ir.Var(var))
    )
    return block(loop, *last)
