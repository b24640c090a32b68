"""Scalars, which are inputs without dimensions, as the names that a kernel knows them by."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.lowering.bound_checks import out_of_bound
from hbc.frontend.plans.inline import map_func
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.algebra.bounds import Interval
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, cast, le, lt
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.types import INDEX, DType
from hbc.ir.lang.walk import rewrite


def scalars_by_value(p: Pipeline) -> Pipeline:
    """The pipeline with a name in the place of each read of a scalar."""
    names = {i.name for i in p.inputs if i.is_scalar}
    if not names:
        return p

    def put(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Access) and e.name in names:
            return ir.Var(e.name, e.type, e.span)
        return e

    return replace(p, funcs=tuple(map_func(f, lambda e: rewrite(e, put)) for f in p.funcs))


def scalar_ranges(p: Pipeline) -> dict[str, Interval]:
    """What each scalar may be: all that its type holds. (`bound`s say more.)"""
    return {i.name: _of_type(i.element) for i in p.inputs if i.is_scalar}


def scalar_checks(p: Pipeline) -> list[Check]:
    """What the entry point tests of the scalars that have a bound."""
    elements = {i.name: i.element for i in p.inputs if i.is_scalar}
    found = []
    for b in p.bounds:
        if b.name in elements:
            own = cast(INDEX, ir.Var(b.name, elements[b.name](1)))
            found.append(Check(and_(le(b.lo, own), lt(own, b.hi)), out_of_bound(b)))
    return found


def _of_type(t: DType) -> Interval:
    if not t.is_int or t.bits == INDEX.element.bits:
        return Interval(None, None)
    low, high = t.limits
    return Interval(ir.const_index(low), ir.const_index(high))
