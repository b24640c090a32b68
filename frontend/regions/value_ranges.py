"""What integer inputs, tables and Funcs can hold: the ranges of indices that go through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hbc.frontend.program.funcs import Func, Pipeline, values_of
from hbc.ir.algebra.bounds import Interval, bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import sub
from hbc.ir.lang.kernel import Table
from hbc.ir.lang.types import INDEX, DType
from hbc.ir.lang.walk import free_variables, nodes

UNKNOWN = Interval(None, None)


def value_ranges(
    pipeline: Pipeline, tables: Sequence[Table], sizes: dict[str, Interval]
) -> dict[str, Interval]:
    """By name, from the bounds that the user states, the cells of tables, and the definitions of
    Funcs without updates; names of which nothing is known are left out."""
    ranges: dict[str, Interval] = {}
    for table in tables:
        if table.element.is_int and table.values:
            least, most = int(min(table.values)), int(max(table.values))
            ranges[table.name] = Interval(ir.const_index(least), ir.const_index(most))
    for b in pipeline.bounds:
        ranges[b.name] = Interval(b.lo, simplify(sub(b.hi, 1)))
    for f in pipeline.funcs:
        for part, value in zip(f.parts, values_of(f.pure), strict=True):
            if part.name not in ranges and part.element.is_int and not f.updates:
                values = _defined(f, value, {**sizes, **ranges})
                if values is not None:
                    ranges[part.name] = values
    return ranges


def data_ranges(read: Iterable[ir.Expr], known: Mapping[str, Interval]) -> dict[str, Interval]:
    """For each name whose elements are read in the expressions its range: as known, else what its
    type allows. (Without one, an element at constant coordinates could stay in a bound.)"""
    ranges = {}
    for n in (n for e in read for n in nodes(e)):
        if isinstance(n, ir.Access):
            ranges[n.array] = known[n.array] if n.array in known else _of_type(n.type.element)
    return ranges


def _of_type(t: DType) -> Interval:
    if not t.is_int or t.bits == INDEX.element.bits:
        return UNKNOWN
    least, most = t.limits
    return Interval(ir.const_index(least), ir.const_index(most))


def _defined(f: Func, value: ir.Expr, known: dict[str, Interval]) -> Interval | None:
    """The range of a value of the pure step, if it has one whatever the variables are."""
    pure = value if value.type == INDEX else ir.Cast(INDEX, value)
    data = data_ranges([pure], known)
    interval = bounds(pure, {**data, **known, **dict.fromkeys(f.variables, UNKNOWN)})
    if interval.lo is None or interval.hi is None:
        return None
    names = free_variables(interval.lo) | free_variables(interval.hi)
    return interval if names.isdisjoint(f.variables) else None
