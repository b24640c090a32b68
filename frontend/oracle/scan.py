"""Update steps whose points depend on one another: in the declared order, one point at a time."""

from __future__ import annotations

import itertools

from hbc.frontend.oracle.points import Axis, Points, Ranges, grid
from hbc.frontend.oracle.program import Program, accesses
from hbc.frontend.oracle.recurrence import active_range, recurrence
from hbc.frontend.oracle.solve import solve
from hbc.frontend.oracle.store import places, put, put_at
from hbc.frontend.oracle.value import Value, select, taken
from hbc.frontend.program.funcs import Func, Update, values_of
from hbc.ir.lang import nodes as ir


def run_in_order(
    program: Program, func: Func, update: Update, reduce: Ranges, pure: Ranges
) -> None:
    """Reduce points in the declared order, the first variable outermost; all points of the pure
    variables, and of reduce variables that the update carries nothing along, at once."""
    along = {name: r for name, r in reduce.items() if _independent(func, update, name)}
    steps = [(name, range(r[0], r[0] + r[1])) for name, r in reduce.items() if name not in along]
    together = {**along, **pure}
    if any(count <= 0 for _, count in (*reduce.values(), *pure.values())):
        return
    if len(steps) == 1 and _solved(program, func, update, steps[0][0], reduce, together):
        return
    axes = {name: Axis(n, *r) for n, (name, r) in enumerate(together.items())}
    for step in itertools.product(*(values for _, values in steps)):
        fixed = dict(zip((name for name, _ in steps), step, strict=True))
        points = Points(len(axes), axes, {**program.sizes, **fixed})
        _step(program, func, update, points)


def _solved(
    program: Program, func: Func, update: Update, variable: str, reduce: Ranges, others: Ranges
) -> bool:
    """Evaluates a scan that is a linear recurrence; False when it is none."""
    linear = recurrence(func, update, variable)
    span = active_range(program, update.condition, variable, reduce[variable])
    if linear is None or span is None or not span[1]:
        return False
    stored, order = program.stored[func.name], linear.order
    points = grid({**others, variable: span}, program.sizes)
    past = grid({**others, variable: (span[0] - order, order)}, program.sizes)
    before, after = (places(program, update, stored, x) for x in (past, points))
    if before.off is not None or after.off is not None:
        return False
    e = None if stored.value.e is None else stored.value.e[before.at]
    result = solve(program, linear, points, Value(stored.value.x[before.at], e))
    if result is None:
        return False
    put(stored, after.at, result)
    return True


def _independent(func: Func, update: Update, name: str) -> bool:
    """Whether points with different values of the variable neither read nor write the same place:
    it is, alone, one index of the store and of every access to the Func."""
    here = [n for n, i in enumerate(update.indices) if isinstance(i, ir.Var) and i.name == name]
    if len(here) != 1:
        return False
    own = ir.Var(name)
    conditions = [] if update.condition is None else [update.condition]
    return all(
        a.indices[here[0]] == own
        for e in (update.value, *update.indices, *conditions)
        for a in accesses(e)
        if a.name == func.name
    )


def _step(program: Program, func: Func, update: Update, points: Points) -> None:
    condition = None
    if update.condition is not None:
        condition = program.meaning(update.condition)(points)
        points = points.where(condition)
        if points.mask is None or not points.mask.any():
            return
    values = [program.meaning(e)(points) for e in values_of(update.value)]
    arrays = [program.stored[p.name] for p in func.parts]
    if len(arrays) > 1:  # one may be a view of what another overwrites
        values = [Value(v.x.copy(), None if v.e is None else v.e.copy()) for v in values]
    at = places(program, update, arrays[0], points)
    if condition is not None:  # where it is false, a point may have no place
        assert points.mask is not None
        live = points.mask
        at = at.where(live)
    for stored, value in zip(arrays, values, strict=True):
        if condition is not None:
            e = None if stored.value.e is None else stored.value.e[at.at]
            old = Value(stored.value.x[at.at], e)
            value = select(taken(condition, live), taken(value, live), old, stored.element)
        put_at(stored, at, value)
