"""`prefetch(X, loop, distance)`: asks the cache for the lines that a later iteration reads."""

from __future__ import annotations

from hbc.frontend.funcs import Func
from hbc.frontend.legal import stage_accesses
from hbc.frontend.nest import Nest
from hbc.frontend.plan import PrefetchPlan, stage_text, step
from hbc.frontend.program import Scope
from hbc.frontend.regions import access_box, accesses_of, extent_of, hull, reduce_ranges
from hbc.ir.bounds import Interval
from hbc.ir.build import add, floordiv, mul
from hbc.ir.diag import error
from hbc.ir.nodes import Expr, For, LoopKind, Prefetch, Stmt, Var, const_index
from hbc.ir.simplify import simplify

LINE = 64  # bytes


def prefetch_statements(func: Func, nest: Nest, dim: str, scope: Scope) -> list[Stmt]:
    """The prefetches that the schedule puts at the loop over `dim`."""
    found: list[Stmt] = []
    for p in nest.stage.prefetches:
        if p.loop == dim and dim in nest.fixed:
            found.append(_one(func, nest, p, scope))
    return found


def _what_is_read(func: Func, nest: Nest) -> str:
    read = dict.fromkeys(a.name for a in stage_accesses(func, nest.stage.update))
    return f"it reads {', '.join(f'`{n}`' for n in read)}" if read else "it reads nothing"


def _one(func: Func, nest: Nest, p: PrefetchPlan, scope: Scope) -> Stmt:
    """Loops over the rows of the box that iteration `+ distance` reads, a touch per cache line."""
    update = step(func, nest.stage.update)
    later = nest.fix(p.loop, add(nest.fixed[p.loop], p.distance))
    ranges = {**reduce_ranges(() if update is None else update.reduce)}
    ranges |= {root: later.span(root) for root in nest.stage.roots}
    reads = [a for found, _ in accesses_of(func, nest.stage.update, p.name) for a in found]
    if not reads or p.name not in scope.storages:
        raise error(
            f"`{stage_text(nest.stage)}` does not read `{p.name}`",
            p.span,
            _what_is_read(func, nest),
        )
    box: tuple[Interval, ...] | None = None
    for access in reads:
        box = hull(box, access_box(access, ranges, scope.ranges), scope.ranges)
    if box is None or any(x.lo is None or x.hi is None for x in box):
        raise error(f"what `{func.name}` reads of `{p.name}` ahead is not known", p.span)
    storage = scope.storages[p.name]
    step_size = LINE // storage.element.bytes
    names, indices, extents = [], [], []
    for d, x in enumerate(box):
        name = scope.fresh(f"ahead{d}")
        innermost = d == len(box) - 1
        extent = extent_of(x)
        names.append(name)
        extents.append(
            simplify(floordiv(add(extent, step_size - 1), step_size)) if innermost else extent
        )
        offset: Expr = mul(Var(name), step_size) if innermost else Var(name)
        indices.append(add(x.lo if x.lo is not None else const_index(0), offset))
    body: Stmt = Prefetch(storage.buffer, storage.offset(tuple(indices)), storage.element)
    for name, extent in reversed(list(zip(names, extents, strict=True))):
        body = For(name, const_index(0), extent, LoopKind.SERIAL, body, f"prefetch({p.name})")
    return body
