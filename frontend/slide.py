"""Sliding windows: a Func stored outside the loop it is computed in keeps what it computed before.

store_at(C, y), compute_at(C, x): iteration x computes only what iteration x - 1 had not, into a
buffer that wraps round (folds) when no iteration looks further back than a constant.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.legal import consumers
from hbc.frontend.nest import Nest
from hbc.frontend.plan import At, FuncPlan, Level, Root, Split
from hbc.frontend.program import Program, Scope
from hbc.frontend.regions import Box, extent_of, required
from hbc.ir.bounds import Interval, constant_bounds, prove
from hbc.ir.build import add, eq, ge, maximum, minimum, mul, select, sub
from hbc.ir.nodes import Const, Expr, LoopKind, Var, const_index
from hbc.ir.simplify import simplify
from hbc.ir.walk import free_variables, substitute


def slide_box(
    program: Program, f: FuncPlan, level: Level, nest: Nest | None, box: Box, asked: Box,
    scope: Scope,
) -> tuple[Box, list[tuple[str, Expr]], Scope]:  # fmt: skip
    """The part of `box` that earlier iterations of the loop at `level` have not computed. `asked` is
    the box before its bounds got names, which hide what they depend on.

    Returns the box, the names to bind around its use, and the scope with them."""
    found = _sliding(program, f, level, nest, asked, scope)
    if found is None or nest is None or not isinstance(level, At):
        return box, [], scope
    variable, d = found
    low, high, ahead = box[d].lo, box[d].hi, asked[d].hi
    if low is None or high is None or ahead is None:
        return box, [], scope
    before = {variable: sub(Var(variable), 1)}
    first = eq(_iteration(nest, level), 0)
    fresh = maximum(low, add(substitute(ahead, before), 1))
    name = scope.fresh(f"{f.func.name}_{f.func.variables[d]}_new")
    value = simplify(select(first, low, fresh))
    scope = scope.bind(name, Interval(low, simplify(add(high, 1))))
    return (*box[:d], Interval(Var(name), high), *box[d + 1 :]), [(name, value)], scope


def _iteration(nest: Nest, level: At) -> Expr:
    loop = nest.stage.loop(level.loop)
    return const_index(0) if loop is None else nest.fixed[loop.dim]


def _sliding(
    program: Program, f: FuncPlan, level: Level, nest: Nest | None, box: Box, scope: Scope
) -> tuple[str, int] | None:
    """The loop variable and the dimension along which the window slides, if it does."""
    if f.store is None or f.store == f.compute or f.func.updates or nest is None:
        return None
    if not isinstance(level, At):
        return None
    loop = nest.stage.loop(level.loop)
    if loop is None or loop.kind is not LoopKind.SERIAL or loop.dim not in nest.fixed:
        return None
    names = free_variables(nest.fixed[loop.dim]) - program.sizes
    moving = [v for v in names if v in scope.ranges]
    if len(moving) != 1:
        return None
    variable = moving[0]
    order = list(scope.ranges)
    inside = frozenset(order[order.index(variable) :])  # these may change with each iteration
    dims = [d for d, x in enumerate(box) if not inside.isdisjoint(_names(x))]
    if len(dims) != 1 or _names(box[dims[0]]) & inside != {variable}:
        return None
    x = box[dims[0]]
    if x.lo is None or x.hi is None:
        return None
    before = {variable: sub(Var(variable), 1)}
    for end in (x.lo, x.hi):
        if prove(ge(simplify(end), simplify(substitute(end, before))), scope.ranges) is not True:
            return None
    return variable, dims[0]


def _names(x: Interval) -> frozenset[str]:
    ends = [e for e in (x.lo, x.hi) if e is not None]
    return frozenset().union(*(free_variables(e) for e in ends))


def fold_factors(
    program: Program,
    f: FuncPlan,
    level: Level,
    nest: Nest | None,
    boxes: dict[str, Box],
    scope: Scope,
) -> dict[str, int]:
    """Dimensions along which storage at `level` may wrap round, and after how many elements.

    Looks at one symbolic iteration of the loop that computes `f`: where what it needs along the
    sliding dimension has a constant extent, that many elements (rounded up to a power of two, so
    that wrapping is a mask) serve all iterations."""
    if f.store is None or f.store == f.compute or not isinstance(f.compute, At):
        return {}
    reading = {(name, update) for name, update, _ in consumers(program.plan, f.func.name)}
    if reading != {(f.compute.func, f.compute.update)}:
        return {}
    inner = _probe(program, f.compute, level, nest, boxes, scope)
    if inner is None:
        return {}
    probe, probe_scope, variable = inner
    reader = program.plan[f.compute.func].func
    ranges = {root: probe.span(root) for root in probe.stage.roots}
    box = required(f, [(reader, f.compute.update, ranges)], probe_scope.ranges)
    folds = {}
    for name, x in zip(f.func.variables, box, strict=True):
        if variable not in _names(x):
            continue
        extent = extent_of(x)
        _, most = constant_bounds(extent, probe_scope.ranges)
        if isinstance(extent, Const):
            most = int(extent.value)
        if most is not None and most > 0:
            folds[name] = 1 << (most - 1).bit_length()
    return folds if len(folds) == 1 else {}


def _probe(
    program: Program,
    at: At,
    level: Level,
    nest: Nest | None,
    boxes: dict[str, Box],
    scope: Scope,
) -> tuple[Nest, Scope, str] | None:
    """The nest of the stage that `at` names, with its loops fixed down to that one."""
    reader = program.plan[at.func]
    stage = reader.stages[0 if at.update is None else at.update + 1]
    if stage.special:
        return None
    if nest is None or not isinstance(level, At) or level.func != at.func:
        if not isinstance(level, Root) or at.update is not None or at.func not in boxes:
            return None
        box = boxes[at.func]
        starts = {v: x.lo for v, x in zip(stage.roots, box, strict=True) if x.lo is not None}
        nest = Nest(stage, starts, {v: extent_of(x) for v, x in zip(stage.roots, box, strict=True)})
    variable = ""
    for loop in stage.loops:
        if not nest.is_determined(loop.dim):
            variable = scope.fresh(f"probe_{len(scope.names)}")
            start = nest.starts[loop.dim] if loop.dim in stage.roots else const_index(0)
            last = simplify(sub(add(start, nest.extent(loop.dim)), 1))
            scope = scope.bind(variable, Interval(start, last))
            nest = nest.fix(loop.dim, simplify(sub(Var(variable), start)))
        if loop.name == at.loop:
            break
    for s in stage.relations:
        if isinstance(s, Split) and nest.is_determined(s.outer) and s not in nest.bases:
            base = mul(nest.offset(s.outer), s.factor)
            if nest.shifts(s) and not nest.divides(s):
                base = minimum(base, sub(nest.extent(s.old), s.factor))
            nest = replace(nest, bases={**nest.bases, s: simplify(base)})
    return nest, scope, variable
