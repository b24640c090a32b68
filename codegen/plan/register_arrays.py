"""Buffers in registers of one length, as C arrays of vectors that loops index.

    acc[ramp(16 * e, 1, 16)]   ->   acc[e]

The loops are unrolled by every compiler before it gives out registers.
"""

from __future__ import annotations

from hbc.ir.algebra.form import Linear, to_expr
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX

VALUES = "#"
"""In the name of an array of named values."""


@record
class RegisterArray:
    """How a buffer would be an array: `count` registers of so many `lanes`. `filled`: all are assigned
    before anything else."""

    lanes: int
    count: int
    filled: bool


def register_base(index: ir.Expr, lanes: int) -> ir.Expr | None:
    """The first element of the register that an index names; None where it may name anything else."""
    match index:
        case ir.Ramp(base=base, stride=ir.Const(value=1), lanes=n) if n == lanes > 1:
            return base if base.type == INDEX else None
        case _:
            return index if lanes == 1 and index.type == INDEX else None


def register_number(index: ir.Expr, lanes: int) -> ir.Expr | None:
    """Which register of the array an index names."""
    base = register_base(index, lanes)
    if base is None:
        return None
    form = linear(base)
    if any(number % lanes for number in (form.constant, *(n for _, n in form.terms))):
        return None
    terms = tuple((atom, n // lanes) for atom, n in form.terms)
    return to_expr(Linear(form.constant // lanes, terms, form.keys))
