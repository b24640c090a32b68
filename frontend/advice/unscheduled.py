"""Updates that a schedule forgets: the Func's first definition is vectorized or parallel, they are not.

Seen in the lowered loops: which of them are in lanes or threads, and along which the elements that an
update touches are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from hbc.frontend.plans.plan import is_associative
from hbc.frontend.program.funcs import Func, Pipeline, Schedule, Update
from hbc.ir.ground.diag import Diagnostic, Note, Severity
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import free_variables, inner_statements, nodes
from hbc.ir.vectors.slow_lanes import is_unit, step_along

AT_ONCE = (ir.LoopKind.VECTOR, ir.LoopKind.PARALLEL)
FEW = 64  # steps of an update that it is not worth a line to do at once
FAR = -2  # what an access weighs whose elements are no neighbours


def unscheduled(p: Pipeline, schedule: Schedule | None, kernel: Kernel) -> list[Diagnostic]:
    """A warning for each update without a line, of a Func that has one for its first definition.
    `kernel` has its vector loops still."""
    if schedule is None:
        return []
    named = {(line.stage.name, line.stage.update) for line in schedule.lines}
    loops = list(_stores(kernel.body, ()))
    warnings = []
    for f in p.funcs:
        own = [
            x for s, around in loops if s.buffer == f.name and _is_of(s, f, None) for x in around
        ]
        at_once = [x for x in own if x.kind in AT_ONCE and x.note.startswith(f"{f.name}.")]
        for number, update in enumerate(f.updates):
            if at_once and (f.name, number) not in named:
                places = [(s, around) for s, around in loops if _is_of(s, f, number)]
                missing = "" if _is_short(places) else _missing(f, update, at_once, places)
                if missing:
                    warnings.append(_warning(f, number, missing, at_once[0]))
    return warnings


def _stores(
    s: ir.Stmt, around: tuple[ir.For, ...]
) -> Iterator[tuple[ir.Store, tuple[ir.For, ...]]]:
    if isinstance(s, ir.Store):
        yield s, around
    inside = (*around, s) if isinstance(s, ir.For) else around
    for part in inner_statements(s):
        yield from _stores(part, inside)


def _is_of(s: ir.Store, f: Func, number: int | None) -> bool:
    """Whether a store is of that step."""
    return s.buffer == f.name and s.span == (f.span if number is None else f.updates[number].span)


def _is_short(places: list[tuple[ir.Store, tuple[ir.For, ...]]]) -> bool:
    """Whether it is done in a few steps, once."""
    return all(
        all(isinstance(x.extent, ir.Const) for x in around)
        and prod(int(x.extent.value) for x in around if isinstance(x.extent, ir.Const)) <= FEW
        for _, around in places
    )


def _missing(
    f: Func,
    update: Update,
    at_once: list[ir.For],
    places: list[tuple[ir.Store, tuple[ir.For, ...]]],
) -> str:
    """The directives that the update could have, "" if there are none."""
    free = {i.name for v, i in zip(f.variables, update.indices, strict=True)
            if isinstance(i, ir.Var) and i.name == v}  # fmt: skip
    fixed = {n for i in update.indices for n in free_variables(i)}
    sums = (
        {r.name for r in update.reduce if r.name not in fixed}
        if is_associative(f, update)
        else set()
    )
    best: tuple[int, str, bool] | None = None
    for s, around in places:
        if any(x.kind in AT_ONCE and x.note.startswith(f"{f.name}.update") for x in around):
            return ""
        for x in around:
            if x.var in free | sums:
                weight = _weight(s, x.var)
                if weight >= 0 and (best is None or weight > best[0]):
                    best = weight, x.var, x.var in sums
    directives = ""
    outermost = next((x.var for _, around in places for x in around if x.var in free), None)
    if outermost is not None and any(x.kind is ir.LoopKind.PARALLEL for x in at_once):
        directives += f".parallel({outermost})"
    lanes = [x.extent.value for x in at_once
             if x.kind is ir.LoopKind.VECTOR and isinstance(x.extent, ir.Const)]  # fmt: skip
    if best is not None and lanes:
        atomic = ".atomic()" if best[2] else ""
        directives += f"{atomic}.vectorize({best[1]}, {lanes[0]})"
    return directives


def _weight(s: ir.Store, name: str) -> int:
    """How many accesses go from neighbour to neighbour along a loop, less those that do not."""
    weight = 0
    for n in (s, *nodes(s.value)):
        if isinstance(n, ir.Load | ir.Store):
            step = step_along(n.index, name)
            still = isinstance(step, ir.Const) and step.value == 0
            weight += 1 if is_unit(step) else 0 if still else FAR
    return weight


def _warning(f: Func, number: int, missing: str, first: ir.For) -> Diagnostic:
    stage = f"{f.name}.update" if number == 0 else f"{f.name}.update({number})"
    notes = () if first.span is None else (Note(f"that of `{f.name}` itself", first.span),)
    how = "one element at a time" if "vectorize" in missing else "in one thread"
    return Diagnostic(
        f"the schedule has no line for `{stage}`, which stays as it is: {how}",
        f.updates[number].span, f"write `{stage}{missing}`", notes, Severity.WARNING,
    )  # fmt: skip
