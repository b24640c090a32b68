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
from hbc.frontend.regions.regions import Box, Ranges, as_promised, common, needed, stage_ranges
from hbc.frontend.regions.slide import Window, scan_window
from hbc.ir.algebra.bounds import Facts, prove
from hbc.ir.ground.record import record
from hbc.ir.lang.build import le


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


def boxes_at(
    program: Program, site: Site, scope: Scope
) -> tuple[dict[str, Box], dict[str, Window], dict[str, Box]]:
    """What one pass through this level needs of each Func computed in it, consumers first; the new
    steps of those that are scans of which a window slides; and of those whose storage is folded, what others
    need."""
    plan = program.plan
    inside = [f for f in plan.values() if is_inside(program, f, site.level)]
    readers: list[tuple[Func, int | None, Ranges]] = []
    if site.nest is not None and isinstance(site.level, At):
        for nest in (site.nest, *joined_at(site.nest, site.level.loop)):
            reader = plan[nest.stage.func].func
            readers.append((reader, nest.stage.update, nest_ranges(nest)))
    boxes: dict[str, Box] = {}
    windows: dict[str, Window] = {}
    others: dict[str, Box] = {}
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
            windows[name] = window
        if f.folds and f.func.updates:
            others[name] = as_promised(f, needed(f, reading, facts, output, alone=True))
        need = needed(f, reading, facts, output) if window is None else window.box
        boxes[name] = as_promised(f, need)
        room = _room(program, name, reading, scope)
        if room is not None and output is None:
            boxes[name] = common(boxes[name], room, facts)
        check_promises(program, f, need, scope)
        for stage in f.stages:
            ranges = stage_ranges(f.func, stage.update, stage_box(f, stage, boxes[name], scope))
            if window is not None and stage.update is not None:
                ranges = {**ranges, f.func.updates[0].reduce[0].name: window.steps}
            readers.append((f.func, stage.update, ranges))
    return boxes, windows, others


def _room(
    program: Program, name: str, reading: list[tuple[Func, int | None, Ranges]], scope: Scope
) -> Box | None:
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
