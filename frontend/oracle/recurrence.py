"""Recognises scans that are linear recurrences: y[t] = g[t] + sum of a_k * y[t - k]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hbc.frontend.oracle.points import grid, linear
from hbc.frontend.oracle.program import Program, reads
from hbc.frontend.program.funcs import Func, Update
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F32
from hbc.ir.lang.walk import free_variables


@record
class Summand:
    """`sign` times the product of `factors` (which do not move with t) times y[t - lag], or times
    `rest` (which does not read y)."""

    sign: int
    factors: tuple[ir.Expr, ...]
    lag: int
    rest: ir.Expr | None


@record
class Recurrence:
    """A step is the sum of the summands, computed with `rounds` rounded operations."""

    summands: tuple[Summand, ...]
    rounds: int

    @property
    def order(self) -> int:
        return max(s.lag for s in self.summands)


def recurrence(func: Func, update: Update, variable: str) -> Recurrence | None:
    """The update as a linear recurrence along `variable`, or None. Only f32: f64 would need long
    double matrix products, bf16 and f16 round too coarsely for a linear bound."""
    if func.element != F32 or update.op is not None or ir.Var(variable) not in update.indices:
        return None
    if func.others:
        return None
    split = _split(func, update, variable, update.value)
    if split is None or not any(s.rest is None for s in split.summands):
        return None
    moving = {variable, *func.variables, *(r.name for r in update.reduce)}
    factors = [f for s in split.summands for f in s.factors]
    return None if any(free_variables(f) & moving for f in factors) else split


def _split(func: Func, update: Update, variable: str, e: ir.Expr) -> Recurrence | None:
    if not reads(e, func.name):
        return Recurrence((Summand(1, (), 0, e),), 0)
    match e:
        case ir.Access():
            lag = _lag(update, variable, e)
            return None if lag is None else Recurrence((Summand(1, (), lag, None),), 0)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            return _negated(_split(func, update, variable, a))
        case ir.Binary(op=ir.Op.ADD | ir.Op.SUB as op, a=a, b=b):
            one, two = _split(func, update, variable, a), _split(func, update, variable, b)
            two = _negated(two) if op is ir.Op.SUB else two
            if one is None or two is None:
                return None
            return Recurrence(one.summands + two.summands, one.rounds + two.rounds + 1)
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            factor, scaled = (b, a) if reads(a, func.name) else (a, b)
            inner = _split(func, update, variable, scaled)
            if inner is None or reads(factor, func.name):
                return None
            summands = tuple(replace(s, factors=(*s.factors, factor)) for s in inner.summands)
            return Recurrence(summands, inner.rounds + 1)
        case _:
            return None


def _negated(given: Recurrence | None) -> Recurrence | None:
    if given is None:
        return None
    summands = tuple(replace(s, sign=-s.sign) for s in given.summands)
    return Recurrence(summands, given.rounds)


def _lag(update: Update, variable: str, e: ir.Access) -> int | None:
    """k, when the access is the stored place k >= 1 steps earlier."""
    lag = 0
    for stored, read in zip(update.indices, e.indices, strict=True):
        if stored == ir.Var(variable):
            form = linear(read)
            if form is None or form.terms != ((variable, 1),):
                return None
            lag = -form.constant
        elif stored != read or variable in free_variables(stored):
            return None
    return lag if lag >= 1 else None


def active_range(
    program: Program, condition: ir.Expr | None, variable: str, span: tuple[int, int]
) -> tuple[int, int] | None:
    """The part of the range of `variable` where the condition holds, when it mentions nothing else
    and that part is the end of the range; otherwise None."""
    if condition is None:
        return span
    if free_variables(condition) - program.sizes.keys() - {variable}:
        return None
    v = program.meaning(condition)(grid({variable: span}, program.sizes))
    holds = np.broadcast_to(v.x, (span[1],))
    skipped = int(span[1] - np.count_nonzero(holds))
    if v.e is not None or not holds[skipped:].all():
        return None
    return span[0] + skipped, span[1] - skipped
