"""What one pass through a level of the loops needs of each Func that is computed inside of it."""

from __future__ import annotations

from hbc.frontend.plans.legal import is_level_inside, stage_accesses
from hbc.frontend.plans.plan import At, FuncPlan, Level, Root, StagePlan, step
from hbc.frontend.program.funcs import Func
from hbc.frontend.regions.index_values import nest_ranges
from hbc.frontend.regions.joined import joined_at
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.overwritten import pure_box
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.promises import check_promises
from hbc.frontend.regions.regions import (
    Box,
    Ranges,
    as_promised,
    common,
    greater,
    lesser,
    needed,
    stage_ranges,
)
from hbc.frontend.regions.slide import Window, scan_window
from hbc.ir.algebra.bounds import Facts, Interval, prove
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import le

Reader = tuple[Func, int | None, Ranges]
"""A step of a Func (the number of its update), and the values of its variables."""


@record
class Site:
    """A level: where it is, the nest of the stage whose loop it is (None at the root)."""

    level: Level
    nest: Nest | None


def is_inside(program: Program, f: FuncPlan, level: Level) -> bool:
    """Whether a Func is computed at this level or deeper."""
    if isinstance(level, Root):
        return True
    return (
        isinstance(level, At)
        and isinstance(f.compute, At)
        and is_level_inside(program.plan, f.compute, level)
    )


@record
class Needs:
    """What one pass through a level needs of each Func computed in it, consumers first; the new steps of
    those that are scans of which a window slides; of those whose storage is folded, what others need."""

    boxes: dict[str, Box]
    windows: dict[str, Window]
    others: dict[str, Box]

    def ranges(self, f: FuncPlan, stage: StagePlan, scope: Scope) -> Ranges:
        """The values of a step's variables."""
        box, window = self.boxes[f.func.name], self.windows.get(f.func.name)
        ranges = stage_ranges(f.func, stage.update, stage_box(f, stage, box, scope))
        if window is None or stage.update is None:
            return ranges
        return {**ranges, f.func.updates[0].reduce[0].name: window.steps}


def boxes_at(program: Program, site: Site, scope: Scope) -> Needs:
    """What one pass through this level needs, and no more than is in memory."""
    asked = _needs_at(program, site, scope, frozenset())
    beyond = _beyond(program, asked, scope)
    return _needs_at(program, site, scope, beyond) if beyond else asked


def _needs_at(program: Program, site: Site, scope: Scope, bounded: frozenset[str]) -> Needs:
    """The same, and of those that are `bounded` only what is needed seen from further out."""
    plan = program.plan
    inside = [f for f in plan.values() if is_inside(program, f, site.level)]
    readers: list[Reader] = []
    if site.nest is not None and isinstance(site.level, At):
        for nest in (site.nest, *joined_at(site.nest, site.level.loop)):
            reader = plan[nest.stage.func].func
            readers.append((reader, nest.stage.update, nest_ranges(nest)))
    needs = Needs({}, {}, {})
    facts = Facts(scope.ranges)
    for f in reversed(inside):
        name = f.func.name
        reading = [r for r in readers if any(a.name == name for a in stage_accesses(r[0], r[1]))]
        if not reading and name not in program.outputs:
            continue
        output = program.outputs.get(name)
        window: Window | None = None
        if f.compute == site.level and f.store is not None and f.func.updates:
            asked = needed(f, reading, facts, output, alone=True)
            window = scan_window(program, f, site.level, site.nest, asked, scope)
        if window is not None:
            needs.windows[name] = window
        if f.folds and f.func.updates:
            needs.others[name] = as_promised(f, needed(f, reading, facts, output, alone=True))
        need = needed(f, reading, facts, output) if window is None else window.box
        box = as_promised(f, need)
        if name in bounded:
            box = _clipped(box, scope.needs[name], scope, scope.settled_facts())
        elif output is None and (room := _room(program, name, reading, scope)) is not None:
            box = common(box, room, facts)
        needs.boxes[name] = box
        check_promises(program, f, need, scope)
        readers += [(f.func, s.update, needs.ranges(f, s, scope)) for s in f.stages]
    return needs


def _beyond(program: Program, needs: Needs, scope: Scope) -> frozenset[str]:
    """The Funcs without memory around this level that seem to read more than there is memory for, or more
    of others of them than those have then. Less may be known inside a loop than outside, where
    memory was sized, of what is needed."""
    facts, beyond = Facts(scope.ranges), set[str]()
    exact: Facts | None = None
    for f in program.plan.values():  # callees first
        name = f.func.name
        box, around = needs.boxes.get(name), scope.needs.get(name)
        padded = name in program.padding.whole or name in program.padding.filled
        if box is None or around is None or padded or name in program.outputs:
            continue
        if name in scope.storages or _clipped(box, around, scope, facts) == box:
            continue
        exact = scope.settled_facts() if exact is None else exact
        if _clipped(box, around, scope, exact) == box:
            continue
        for s in f.stages:
            reader = (f.func, s.update, needs.ranges(f, s, scope))
            names = {a.name for a in stage_accesses(f.func, s.update)} - {name}
            if any(n in beyond or _is_beyond(program, n, reader, scope, exact) for n in names):
                beyond.add(name)
    return frozenset(beyond)


def _is_beyond(program: Program, name: str, reader: Reader, scope: Scope, exact: Facts) -> bool:
    """Whether it is not certain that a step reads no more of a Func than there is memory for."""
    storage, f = scope.storages.get(name), program.plan.get(name)
    if storage is None or f is None or storage.box is None:
        return False
    read = needed(f, [reader], Facts(scope.ranges), alone=True)
    return _clipped(read, storage.box, scope, exact) != read


def _clipped(box: Box, around: Box, scope: Scope, facts: Facts) -> Box:
    """What of a box is in the other: the ends of the first, where those surely are. The facts are of names
    without a value, or of all."""
    settle = (lambda e: e) if facts.ranges is scope.ranges else scope.settled

    def end(own: ir.Expr | None, limit: ir.Expr | None, least: bool) -> ir.Expr | None:
        if own is None or limit is None:
            return own if limit is None else limit
        low, high = (limit, own) if least else (own, limit)
        if prove(le(settle(low), settle(high)), facts):
            return own
        pick = greater if least else lesser
        return pick(limit, own, scope.ranges)

    return tuple(
        Interval(end(x.lo, y.lo, True), end(x.hi, y.hi, False))
        for x, y in zip(box, around, strict=True)
    )


def _room(program: Program, name: str, reading: list[Reader], scope: Scope) -> Box | None:
    """What the Func has memory for around this level. Where conditions narrow what is read of it, or it
    is read in several places by what may have no points, what is needed around this level: inside, such
    a condition may not hold, and narrows nothing; and around two empty boxes there may be an element."""
    storage = scope.storages.get(name)
    stored = None if storage is None else storage.box
    padded = name in program.padding.whole or name in program.padding.filled
    steps = [step(func, update) for func, update, _ in reading]
    narrowed = any(u is not None and u.condition is not None for u in steps)
    places = {
        a.indices
        for func, update, _ in reading
        for a in stage_accesses(func, update)
        if a.name == name
    }
    if len(places) > 1 and not narrowed:
        narrowed = not all(_has_points(ranges, scope) for _, _, ranges in reading)
    return scope.needs.get(name, stored) if narrowed and not padded else stored


def _has_points(ranges: Ranges, scope: Scope) -> bool:
    """Whether each of the ranges surely has a value."""
    ends = [(x.lo, x.hi) for x in ranges.values()]
    return all(lo and hi and prove(le(lo, hi), scope.ranges) for lo, hi in ends)


def stage_box(
    f: FuncPlan, stage: StagePlan, box: Box, scope: Scope, asked: Box | None = None
) -> Box:
    """What the step computes of a box; `asked`: that box, or one around it, before its bounds got names."""
    return pure_box(f.func, box, scope.ranges, asked) if stage.update is None else box
