"""What integer inputs, tables and Funcs can hold: the ranges of indices that go through them."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.frontend.funcs import Func, Pipeline
from hbc.ir.bounds import Interval, bounds
from hbc.ir.build import sub
from hbc.ir.kernel import Table
from hbc.ir.nodes import Cast, const_index
from hbc.ir.simplify import simplify
from hbc.ir.types import INDEX
from hbc.ir.walk import free_variables

UNKNOWN = Interval(None, None)


def value_ranges(
    pipeline: Pipeline, tables: Sequence[Table], sizes: dict[str, Interval]
) -> dict[str, Interval]:
    """By name, from the bounds that the user states, the cells of tables, and the definitions of
    Funcs without updates; names of which nothing is known are left out."""
    found: dict[str, Interval] = {}
    for table in tables:
        if table.element.is_int and table.values:
            least, most = int(min(table.values)), int(max(table.values))
            found[table.name] = Interval(const_index(least), const_index(most))
    for b in pipeline.bounds:
        found[b.name] = Interval(b.lo, simplify(sub(b.hi, 1)))
    for f in pipeline.funcs:
        if f.name not in found and f.element.is_int and not f.updates:
            values = _defined(f, {**sizes, **found})
            if values is not None:
                found[f.name] = values
    return found


def _defined(f: Func, known: dict[str, Interval]) -> Interval | None:
    """The range of the pure step, if it has one whatever the variables are."""
    pure = f.pure if f.pure.type == INDEX else Cast(INDEX, f.pure)
    found = bounds(pure, {**known, **dict.fromkeys(f.variables, UNKNOWN)})
    if found.lo is None or found.hi is None:
        return None
    names = free_variables(found.lo) | free_variables(found.hi)
    return found if names.isdisjoint(f.variables) else None
