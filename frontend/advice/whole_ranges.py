"""Reductions over intervals of data whose loops go over all that the interval may ever be.

Loops are cut to the interval of each point (`lowering.trimmed`) where it is known outside of them: not where
its ends change in a loop further in, or from lane to lane. Partial results that `rfactor` makes are as many
as the loop has iterations in all intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.plans.plan import Plan
from hbc.frontend.program.funcs import (
    Directive,
    Pipeline,
    ReduceVar,
    Schedule,
    ScheduleLine,
    Update,
)
from hbc.ir.ground.diag import Diagnostic, Note, Severity
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import contains, free_variables, inner_statements, mentions, nodes_of
from hbc.ir.vectors.vector_masks import conjuncts

FEW = 64  # iterations that are not worth a line
IN_ORDER = (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL)


@record
class Around:
    """What is around a statement: loops; conditions, and ends of loops, that read data; and names whose value
    data decides."""

    loops: tuple[ir.For, ...] = ()
    conditions: tuple[ir.Expr, ...] = ()
    of_data: frozenset[str] = field(default_factory=frozenset)


def whole_ranges(p: Pipeline, schedule: Schedule | None, kernel: Kernel) -> list[Diagnostic]:
    """A warning for each loop that goes over a whole interval of data, and for each `rfactor` of one.
    `kernel` has its vector loops still."""
    ranged = {u.span: r for f in p.funcs for u in f.updates for r in u.reduce if _of_data(u, r)}
    if schedule is None or not ranged:
        return []
    found: dict[tuple[Span | None, str], Diagnostic] = {}
    for store, around in _stores(kernel.body, Around()):
        r = ranged.get(store.span)
        whole = None if r is None else _walked(around)
        if r is not None and whole is not None:
            loop, inside = whole
            key = (store.span, _plain(loop.var, store))
            found.setdefault(key, _warning(r, store, loop, inside, schedule))
    return [*found.values(), *_factored(p, schedule)]


def _of_data(u: Update, r: ReduceVar) -> bool:
    """Whether the interval of the reduction reads data."""
    return r.narrow and u.condition is not None and _asks_data(u.condition, r.name)


def _asks_data(condition: ir.Expr, name: str) -> bool:
    return any(contains(c, ir.Access) and mentions(c, name) for c in conjuncts(condition))


def _stores(s: ir.Stmt, around: Around) -> Iterator[tuple[ir.Store, Around]]:
    match s:
        case ir.Store():
            yield s, around
        case ir.For():
            around = replace(around, loops=(*around.loops, s))
        case ir.If(condition=condition):
            asked = [c for c in conjuncts(condition) if contains(c, ir.Load)]
            around = replace(around, conditions=(*around.conditions, *asked))
        case ir.LetStmt(name=name, value=value) if _decided(value, around):
            asked = [value] if contains(value, ir.Load) else []
            around = replace(
                around, conditions=(*around.conditions, *asked), of_data=around.of_data | {name}
            )
        case _:
            pass
    for part in inner_statements(s):
        yield from _stores(part, around)


def _decided(e: ir.Expr, around: Around) -> bool:
    """Whether data decides the value."""
    return contains(e, ir.Load) or not free_variables(e).isdisjoint(around.of_data)


def _walked(around: Around) -> tuple[ir.For, ir.For] | None:
    """The outermost loop that a condition on data speaks of, and goes over all its iterations, with the loop
    that the data changes in."""
    for condition in around.conditions:
        loads = nodes_of(condition, ir.Load)
        inside = {v for n in loads for v in free_variables(n)}
        along = [
            x for x in around.loops
            if x.var not in inside and mentions(condition, x.var)
        ]  # fmt: skip
        if any(_decided(e, around) for x in along for e in (x.start, x.extent)):
            continue
        for n, x in enumerate(around.loops):
            if x not in along or x.kind not in IN_ORDER or _is_short(x):
                continue
            changing = [
                y for m, y in enumerate(around.loops)
                if y.var in inside and (m > n or y.kind is ir.LoopKind.VECTOR)
            ]  # fmt: skip
            if changing:
                return x, changing[-1]
            break
    return None


def _is_short(x: ir.For) -> bool:
    return isinstance(x.extent, ir.Const) and int(x.extent.value) <= FEW


def _plain(name: str, store: ir.Store) -> str:
    """The loop's name as the schedule has it."""
    return name.removeprefix(f"{store.buffer}_")


def _warning(
    r: ReduceVar, store: ir.Store, loop: ir.For, inside: ir.For, schedule: Schedule
) -> Diagnostic:
    along, other = _plain(loop.var, store), _plain(inside.var, store)
    if inside.kind is ir.LoopKind.VECTOR or ".vectorize(" in inside.note:
        where = "is another one in each lane"
        hint = f"give the lanes values of `{r.name}`: `.atomic().vectorize({r.name}, 16)`, or `rfactor`"
    else:
        where = f"changes in the loop `{other}` inside"
        hint = f"`reorder` with `{other}` before `{along}`: its loop then goes over one interval"
    notes = () if r.span is None else (Note(f"`{r.name}` is declared here", r.span),)
    return Diagnostic(
        f"the loop `{along}` goes over all that `{r.name}` may be: its interval {where}",
        inside.span or _said(schedule, store, "reorder") or store.span, hint, notes, Severity.WARNING,
    )  # fmt: skip


def _said(schedule: Schedule, store: ir.Store, name: str) -> Span | None:
    """Where the schedule has that directive of the Func last."""
    said = [
        d.span for line in schedule.lines if line.stage.name == store.buffer for d in line.directives
        if d.name == name
    ]  # fmt: skip
    return said[-1] if said else None


def _factored(p: Pipeline, schedule: Schedule) -> list[Diagnostic]:
    asked = [(line, d) for line in schedule.lines for d in line.directives if d.name == "rfactor"]
    if not asked:
        return []
    _, plan = apply_schedule(p, schedule, False)
    found = []
    for line, d in asked:
        update = _update(p, line)
        r = next((r for r in update.reduce if _of_data(update, r)), None) if update else None
        if r is not None and _parts_of_data(plan, line, d):
            loop, variable = str(d.args[0]), str(d.args[1])
            found.append(Diagnostic(
                f"`{line.stage.name}_{variable}` has parts at each point for all that `{loop}` may be"
                f" anywhere: data says how long the interval of `{r.name}` is", d.span,
                f"factor a loop of few iterations: `split({r.name}, {r.name}o, {r.name}i, 16)"
                f".rfactor({r.name}i, {variable})`",
                () if r.span is None else (Note(f"`{r.name}` is declared here", r.span),), Severity.WARNING,
            ))  # fmt: skip
    return found


def _update(p: Pipeline, line: ScheduleLine) -> Update | None:
    func = next((f for f in p.funcs if f.name == line.stage.name), None)
    number = line.stage.update
    return None if func is None or number is None else func.updates[number]


def _parts_of_data(plan: Plan, line: ScheduleLine, d: Directive) -> bool:
    """Whether the new variable runs over as many values as sizes say, and data say of which there are any."""
    f = plan[line.stage.name].func
    variable = str(d.args[1])
    partial = plan[f"{f.name}_{variable}"].func.updates[0]
    joined = f.updates[line.stage.update or 0].reduce
    return (
        partial.condition is not None
        and not any(isinstance(r.extent, ir.Const) for r in joined)
        and _asks_data(partial.condition, variable)
    )
