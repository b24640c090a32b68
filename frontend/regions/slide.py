"""Sliding windows: a Func stored outside the loop it is computed in keeps what it computed before.

store_at(C, y), compute_at(C, x): iteration x computes only what iteration x - 1 had not. Of a scan it
runs only the steps that iteration x - 1 had not. Which Funcs may: `plans/reuse.py`.
"""

from __future__ import annotations

from hbc.frontend.plans.plan import At, FuncPlan, Level
from hbc.frontend.plans.reuse import why_anew
from hbc.frontend.plans.scan import Scan, scan_of
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import Box, extent_of, greater, lesser
from hbc.ir.algebra.bounds import Interval, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, eq, ge, le, maximum, select, sub
from hbc.ir.lang.target import GPU
from hbc.ir.lang.walk import free_variables, substitute


@record
class Window:
    """Of a scan that slides along a loop, one iteration of which is `asked` for a box: that box with
    what the new steps look back at, and the new steps."""

    asked: Box
    box: Box
    steps: Interval


def slide_box(
    program: Program, f: FuncPlan, level: Level, nest: Nest | None, box: Box, asked: Box,
    scope: Scope,
) -> tuple[Box, list[tuple[str, ir.Expr]], Scope]:  # fmt: skip
    """The part of `box` that earlier iterations of the loop at `level` have not computed. `asked` is
    the box before its bounds got names, which hide what they depend on; of a scan what its `Window`
    was asked for.

    Returns the box, the names to bind around its use, and the scope with them."""
    sliding = _sliding(program, f, level, nest, asked, scope)
    if sliding is None or nest is None or not isinstance(level, At):
        return box, [], scope
    variable, d = sliding
    low, high, ahead = box[d].lo, box[d].hi, asked[d].hi
    if low is None or high is None or ahead is None:
        return box, [], scope
    before = {variable: sub(ir.Var(variable), 1)}
    first = eq(_iteration(nest, level), 0)
    fresh = maximum(low, add(substitute(ahead, before), 1))
    name = scope.fresh(f"{f.func.name}_{f.func.variables[d]}_new")
    value = simplify(select(first, low, fresh))
    scope = scope.bind(name, Interval(low, simplify(add(high, 1))), value)
    return (*box[:d], Interval(ir.Var(name), high), *box[d + 1 :]), [(name, value)], scope


def _iteration(nest: Nest, level: At) -> ir.Expr:
    loop = nest.stage.loop(level.loop)
    return ir.const_index(0) if loop is None else nest.fixed[loop.dim]


def _sliding(
    program: Program, f: FuncPlan, level: Level, nest: Nest | None, box: Box, scope: Scope
) -> tuple[str, int] | None:
    """The loop variable and the dimension along which the window slides, if it does."""
    if f.store is None or f.store == f.compute or nest is None or not isinstance(level, At):
        return None
    if why_anew(program.plan, f, program.target.machine == GPU):
        return None
    scan = scan_of(f.func)
    loop = nest.stage.loop(level.loop)
    if loop is None or loop.kind is not ir.LoopKind.SERIAL or loop.dim not in nest.fixed:
        return None
    names = free_variables(nest.fixed[loop.dim]) - program.sizes
    moving = [v for v in names if v in scope.ranges]
    if len(moving) != 1:
        return None
    variable = moving[0]
    order = list(scope.ranges)
    inside = frozenset(order[order.index(variable) :])  # these may change with each iteration
    dims = [d for d, x in enumerate(box) if not inside.isdisjoint(names_of(x))]
    if len(dims) != 1 or names_of(box[dims[0]]) & inside != {variable}:
        return None
    x = box[dims[0]]
    if x.lo is None or x.hi is None:
        return None
    before = {variable: sub(ir.Var(variable), 1)}
    for end in (x.lo, x.hi):
        if prove(ge(simplify(end), simplify(substitute(end, before))), scope.ranges) is not True:
            return None
    if scan is not None and not _starts_with(scan, variable, dims[0], x, scope):
        return None
    return variable, dims[0]


def _starts_with(scan: Scan, variable: str, d: int, x: Interval, scope: Scope) -> bool:
    """Whether the first iteration of the loop begins no later than the scan does, which cannot jump."""
    first = scope.ranges[variable].lo
    if d != scan.dim or x.hi is None or first is None:
        return False
    before = substitute(x.hi, {variable: sub(first, 1)})
    return prove(le(simplify(add(before, 1)), scan.over.start), scope.ranges) is True


def scan_window(
    program: Program, f: FuncPlan, level: Level, nest: Nest | None, box: Box, scope: Scope
) -> Window | None:
    """For a scan that slides along the loop at `level`, one iteration of which needs `box`. None for
    others, which run as a whole."""
    scan = scan_of(f.func)
    sliding = None if scan is None else _sliding(program, f, level, nest, box, scope)
    if scan is None or sliding is None:
        return None
    variable, d = sliding
    low, high = box[d].lo, box[d].hi
    if low is None or high is None:
        return None
    r = scan.over
    fresh = simplify(add(substitute(high, {variable: sub(ir.Var(variable), 1)}), 1))
    last = lesser(high, simplify(sub(add(r.start, r.extent), 1)), scope.ranges)
    steps = Interval(greater(fresh, r.start, scope.ranges), last)
    back = simplify(sub(fresh, scan.back))
    seen = Interval(lesser(low, back, scope.ranges), high)
    return Window(box, (*box[:d], seen, *box[d + 1 :]), steps)


def steps_of(steps: Interval) -> tuple[ir.Expr, ir.Expr]:
    """Where the steps of a window begin, and how many there are."""
    return ir.const_index(0) if steps.lo is None else steps.lo, extent_of(steps)


def names_of(x: Interval) -> frozenset[str]:
    ends = [e for e in (x.lo, x.hi) if e is not None]
    return frozenset().union(*(free_variables(e) for e in ends))
