"""Storage that wraps round (folds): a window that slides needs no more room than it is long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.plans.joined_order import joined_to
from hbc.frontend.plans.plan import At, FuncPlan, Level, Split, StagePlan, stage_at
from hbc.frontend.regions.boxes import Site, boxes_at
from hbc.frontend.regions.joined import in_one
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import Box, extent_of, stage_ranges
from hbc.frontend.regions.slide import names_of
from hbc.ir.algebra.bounds import Interval, constant_bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, minimum, mul, sub


class UnfoldedError(Exception):
    """More of this Func is computed at once than its memory holds."""

    def __init__(self, func: str) -> None:
        super().__init__(func)
        self.func = func


WIDEST = 1 << 16
"""Elements of a window. What is known of a longer one is mostly the range of a type, far beyond the array's
own extent."""


@record
class Probe:
    """One iteration of a loop, whose number is `variable`: what it needs of each Func computed in it."""

    boxes: dict[str, Box]
    scope: Scope
    variable: str


def check_folds(f: FuncPlan, box: Box, scope: Scope) -> None:
    """UnfoldedError unless all of the box surely fits. (A probe of an iteration may see a window slide
    that the loops, where its begin has a name, do not.)"""
    for fold, x in zip(scope.storages[f.func.name].folds, box, strict=True):
        _, most = (None, None) if fold is None else constant_bounds(extent_of(x), scope.ranges)
        if fold is not None and (most is None or most > fold):
            raise UnfoldedError(f.func.name)


def fold_factors(
    program: Program,
    f: FuncPlan,
    level: Level,
    nest: Nest | None,
    boxes: dict[str, Box],
    scope: Scope,
    probes: dict[At, Probe | None],
) -> dict[str, int]:
    """Dimensions along which storage at `level` may wrap round, and after how many elements.

    Looks at one symbolic iteration of the loop that computes `f`: where what it needs along the
    sliding dimension has a constant extent, that many elements (rounded up to a power of two, so
    that wrapping is a mask) serve all iterations. `probes` keeps that iteration for the other Funcs
    stored at the level, callees first: what is needed of one does not depend on where its callees are."""
    if f.func.name in program.unfolded:
        return {}
    probe = probe_of(program, f, level, nest, boxes, scope, probes)
    if probe is None:
        return {}
    folds = {}
    for name, x in zip(f.func.variables, probe.boxes[f.func.name], strict=True):
        if probe.variable not in names_of(x):
            continue
        extent = extent_of(x)
        _, most = constant_bounds(extent, probe.scope.ranges)
        if isinstance(extent, ir.Const):
            most = int(extent.value)
        if most is not None and 0 < most <= WIDEST:
            folds[name] = 1 << (most - 1).bit_length()
    return folds if len(folds) == 1 else {}


def probe_of(
    program: Program,
    f: FuncPlan,
    level: Level,
    nest: Nest | None,
    boxes: dict[str, Box],
    scope: Scope,
    probes: dict[At, Probe | None],
) -> Probe | None:
    """An iteration of the loop that computes the Func, if it is stored around that and one can be told."""
    if f.store is None or f.store == f.compute or not isinstance(f.compute, At):
        return None
    if f.compute not in probes:
        probes[f.compute] = _probed(program, f.compute, level, nest, boxes, scope)
    return probes[f.compute]


def _probed(
    program: Program,
    at: At,
    level: Level,
    nest: Nest | None,
    boxes: dict[str, Box],
    scope: Scope,
) -> Probe | None:
    inner = _probe(program, at, level, nest, boxes, scope)
    if inner is None:
        return None
    nest, scope, variable = inner
    return Probe(boxes_at(program, Site(at, nest), scope).boxes, scope, variable)


def _whole(program: Program, stage: StagePlan, boxes: Mapping[str, Box]) -> Nest:
    """The nest of a step over all that is needed of its Func."""
    ranges = stage_ranges(program.plan[stage.func].func, stage.update, boxes[stage.func])
    starts = {v: lo for v in stage.roots if (lo := ranges[v].lo) is not None}
    return Nest(stage, starts, {v: extent_of(ranges[v]) for v in stage.roots})


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
    stage = stage_at(program.plan, at)
    if stage.special:
        return None
    if nest is None or not isinstance(level, At) or level.func != at.func:
        if reader.compute != level or at.func not in boxes:
            return None
        nest = in_one(
            [_whole(program, s, boxes) for s in joined_to(program.plan, stage)], scope.ranges
        )
    variable = ""
    for loop in stage.loops:
        if not nest.is_determined(loop.dim):
            variable = scope.fresh(f"probe_{len(scope.names)}")
            start = nest.starts[loop.dim] if loop.dim in stage.roots else ir.const_index(0)
            last = simplify(sub(add(start, nest.extent(loop.dim)), 1))
            scope = scope.bind(variable, Interval(start, last))
            nest = nest.fix(loop.dim, simplify(sub(ir.Var(variable), start)))
        if loop.name == at.loop:
            break
    for s in stage.relations:
        if isinstance(s, Split) and nest.is_determined(s.outer) and s not in nest.bases:
            base = mul(nest.offset(s.outer), s.factor)
            if nest.shifts(s) and not nest.divides(s):
                base = minimum(base, sub(nest.extent(s.old), s.factor))
            nest = replace(nest, bases={**nest.bases, s: simplify(base)})
    return nest, scope, variable
