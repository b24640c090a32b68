"""`prefetch(X, loop, distance)`: asks the cache for the lines that a later iteration reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import PrefetchPlan, stage_text, step
from hbc.frontend.program.funcs import Func
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Scope, load_accesses
from hbc.frontend.regions.regions import (
    Box,
    Ranges,
    access_box,
    accesses_of,
    extent_of,
    hull,
    reduce_ranges,
)
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const_value, floordiv, le, mul
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables, map_children, substitute

LINE = 64  # bytes


def prefetch_statements(func: Func, nest: Nest, dim: str, scope: Scope) -> list[ir.Stmt]:
    """The prefetches that the schedule puts at the loop over `dim`."""
    prefetches: list[ir.Stmt] = []
    for p in nest.stage.prefetches:
        if p.loop == dim and dim in nest.fixed:
            prefetches.append(_one(func, nest, p, scope))
    return prefetches


def _what_is_read(func: Func, nest: Nest, name: str) -> str:
    """The step of the Func that reads an array, or what this one reads instead."""
    for update in range(len(func.updates)):
        if any(a.array == name for a in stage_accesses(func, update)):
            number = "" if len(func.updates) == 1 else f"({update})"
            return f"`{func.name}.update{number}` does: write `prefetch` in a line of it"
    read = dict.fromkeys(a.array for a in stage_accesses(func, nest.stage.update))
    return f"it reads {', '.join(f'`{n}`' for n in read)}" if read else "it reads nothing"


def _one(func: Func, nest: Nest, p: PrefetchPlan, scope: Scope) -> ir.Stmt:
    """Loops over the rows of the box that iteration `+ distance` reads, a touch per cache line."""
    if p.name not in scope.storages:
        raise _not_read(func, nest, p)
    storage = scope.storages[p.name]
    step_size = LINE // storage.element.bytes
    names, indices, extents = [], [], []
    box, reads = _box(func, nest, p, scope)
    for d, x in enumerate(box):
        name = scope.fresh(f"ahead{d}")
        innermost = d == len(box) - 1
        extent = extent_of(x)
        names.append(name)
        extents.append(
            simplify(floordiv(add(extent, step_size - 1), step_size)) if innermost else extent
        )
        offset: ir.Expr = mul(ir.Var(name), step_size) if innermost else ir.Var(name)
        indices.append(add(x.lo if x.lo is not None else ir.const_index(0), offset))
    place = storage.offset(tuple(indices))
    body: ir.Stmt = ir.Prefetch(storage.buffer, place, storage.element, p.level)
    for name, extent in reversed(list(zip(names, extents, strict=True))):
        body = ir.For(
            name, ir.const_index(0), extent, ir.LoopKind.SERIAL, body, f"prefetch({p.name})"
        )
    return body if const_value(reads) is True else ir.If(reads, body)


@record
class _Data:
    """Elements of data in indices, by the names that stand for them. They are read where this
    iteration has points `over` the ranges of these variables."""

    now: Ranges
    later: Ranges
    scope: Scope
    found: dict[str, ir.Access] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)


def _box(func: Func, nest: Nest, p: PrefetchPlan, scope: Scope) -> tuple[Box, ir.Expr]:
    """What iteration `+ distance` reads, which may load elements of data that this one reads, and
    the condition under which it does."""
    later = nest.fix(p.loop, add(nest.fixed[p.loop], p.distance))
    data = _Data(_ranges(func, nest), _ranges(func, later), scope)
    boxes: list[Box] = []
    of = {a.array: a.name for a in stage_accesses(func, nest.stage.update)}.get(p.name, p.name)
    for accesses, where in accesses_of(func, nest.stage.update, of):
        for access in (a for a in accesses if a.array == p.name):
            indices = access.indices
            if where is None:
                indices = tuple(_with_names(i, data) for i in indices)
            boxes.append(access_box(replace(access, indices=indices), data.later, scope.ranges))
    if not boxes:
        raise _not_read(func, nest, p)
    read: Mapping[str, ir.Expr] = data.found
    intervals: list[Interval] = []
    for x in hull(boxes, scope.ranges):
        if x.lo is None or x.hi is None:
            raise error(f"what `{func.name}` reads of `{p.name}` ahead is not known", p.span)
        ends = (substitute(end, read) for end in (x.lo, x.hi))
        intervals.append(Interval(*(load_accesses(end, scope) for end in ends)))
    over = [data.now[name] for name in sorted(data.over)]
    some = [le(x.lo, x.hi) for x in over if x.lo is not None and x.hi is not None]
    return tuple(intervals), simplify(and_(*some))


def _not_read(func: Func, nest: Nest, p: PrefetchPlan) -> HbcError:
    what = f"`{stage_text(nest.stage)}` does not read `{p.name}`"
    return error(what, p.span, _what_is_read(func, nest, p.name))


def _ranges(func: Func, nest: Nest) -> Ranges:
    update = step(func, nest.stage.update)
    ranges = reduce_ranges(() if update is None else update.reduce)
    return {**ranges, **{root: nest.span(root) for root in nest.stage.roots}}


def _with_names(e: ir.Expr, d: _Data) -> ir.Expr:
    """The index with a name, entered into `found`, for each element of data in it of which the later
    iteration reads what this one reads, as `top[y / 4]` while `y / 4` stays. Of several elements
    the first stands for all. (What stands in a `select` may not be read at all.)"""
    if isinstance(e, ir.Select):
        return e
    if isinstance(e, ir.Access) and e.array in d.scope.storages:
        box = access_box(e, d.now, d.scope.ranges)
        first = tuple(x.lo for x in box if x.lo is not None)
        if len(first) == len(box) and box == access_box(e, d.later, d.scope.ranges):
            name = f"{e.array} at {', '.join(map(show, first))}"
            d.found[name] = replace(e, indices=first)
            d.over.update(n for n in free_variables(e) if n in d.now)
            return ir.Var(name, e.type)
    return map_children(e, lambda c: _with_names(c, d))
