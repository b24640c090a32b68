"""Several schedules for one target, of which a kernel takes one by its sizes when it is called.

`schedule deep for avx512 where C % 64 == 0 { ... }`: of those for a target the first whose condition holds,
in the order of the file; where none does, the one without a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.program.constants import index_value
from hbc.frontend.program.funcs import Pipeline, Requirement, Schedule
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, not_
from hbc.ir.lang.walk import substitute

PLAIN_LOOPS = "none"  # as --schedule has it


def several(choices: Sequence[Schedule], target: str) -> Schedule:
    """One that stands for them; the last has no condition."""
    if len(choices) == 1:
        return choices[0]
    *names, last = [s.name for s in choices]
    own = [s.targets for s in choices if target in s.targets]
    targets = own[0] if own else choices[0].targets
    return Schedule(
        f"{', '.join(names)} or {last}", targets, (), choices[0].span, None, tuple(choices)
    )


def plain_loops(target: str) -> Schedule:
    """What stands last among several where none of the file is for all sizes."""
    return Schedule(PLAIN_LOOPS, (target,), ())


def is_open(s: Schedule) -> bool:
    """Whether it is several, of which plain loops are the last."""
    return bool(s.choices) and s.choices[-1].name == PLAIN_LOOPS and s.choices[-1].span is None


def possible(p: Pipeline, schedules: Iterable[Schedule]) -> list[Schedule]:
    """Those that sizes fixed at compile time leave a choice of, up to the first that is always taken. Of
    that one nothing is asked any more."""
    # Here: kernels that were kept do without it, which takes 40 ms.
    from hbc.ir.algebra.simplify import simplify

    fixed = {s.name: ir.const_index(s.fixed) for s in p.sizes if s.fixed is not None}
    left: list[Schedule] = []
    for s in schedules:
        test = None if s.condition is None else simplify(substitute(s.condition, fixed))
        if isinstance(test, ir.Const) and not test.value:
            continue
        always = test is None or isinstance(test, ir.Const)
        left.append(replace(s, condition=None) if always else s)
        if always:
            break
    return left


def is_for(s: Schedule, sizes: Mapping[str, int]) -> bool:
    """Whether it may be taken at these sizes."""
    return s.condition is None or bool(index_value(s.condition, sizes))


def taken(schedule: Schedule, sizes: Mapping[str, int]) -> Schedule:
    """The one that a call at these sizes takes."""
    return next((s for s in schedule.each if is_for(s, sizes)), schedule.each[-1])


def apart(schedule: Schedule) -> list[Schedule]:
    """Each of the choices by itself, under the condition by which it is taken: its own, and none before."""
    before: list[ir.Expr] = []
    found = []
    for s in schedule.each:
        own = [] if s.condition is None else [s.condition]
        tests = [*map(not_, before), *own]
        span = own[0].span if own else None
        found.append(replace(s, condition=replace(and_(*tests), span=span) if tests else None))
        before += own
    return found


def where_text(schedule: Schedule) -> str:
    """Its own condition as the file has it; "" where it has none."""
    span = None if schedule.condition is None else schedule.condition.span
    return "" if span is None else " ".join(span.text.split())


def requirement(schedule: Schedule) -> Requirement | None:
    """What a schedule with a condition requires where it stands for itself."""
    if schedule.condition is None:
        return None
    message = f"schedule `{schedule.name}` is for sizes where {where_text(schedule)}"
    return Requirement(schedule.condition, message, schedule.span)


def where_taken(p: Pipeline, schedule: Schedule | None) -> Pipeline:
    """The pipeline for the sizes that a schedule is for."""
    own = None if schedule is None else requirement(schedule)
    return p if own is None else replace(p, requirements=(*p.requirements, own))


def conjuncts(condition: ir.Expr) -> list[ir.Expr]:
    """Conditions that hold together where this one does."""
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            return [*conjuncts(a), *conjuncts(b)]
        case _:
            return [condition]
