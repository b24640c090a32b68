"""Directives that say where a Func is computed and stored, in which order and how much of it."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.directives.loops import integer, listed, names, note
from hbc.frontend.plans.inline import wrapper_name
from hbc.frontend.plans.legal import consumers
from hbc.frontend.plans.plan import At, FuncPlan, Inline, Plan, Promise, Root
from hbc.frontend.program.funcs import Directive, Stage
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory


def compute_at(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Computed anew in each iteration of `loop`: just what that iteration needs."""
    return replace(f, compute=_level(plan, f, d), note=note(f.stages[0], d))


def compute_root(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Computed once, whole, before all that need it."""
    return replace(f, compute=Root(), note=note(f.stages[0], d))


def compute_inline(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Substituted into its consumers. Only for Funcs without updates."""
    if f.func.updates:
        raise error(
            f"`{f.func.name}` has updates and cannot be inlined", d.span,
            "use `compute_at` or `compute_root`",
        )  # fmt: skip
    return replace(f, compute=Inline())


def compute_with(plan: Plan, f: FuncPlan, number: int, d: Directive) -> FuncPlan:
    """The loops down to `loop` are those of another step, after which it comes in each iteration."""
    stage = replace(f.stages[number], joins=_level(plan, f, d))
    return replace(f, stages=(*f.stages[:number], stage, *f.stages[number + 1 :]))


def store_at(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Memory lives through all iterations of loops inside `loop`, so values are reused."""
    return replace(f, store=_level(plan, f, d))


def store_root(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Memory is allocated once, outside of all loops."""
    return replace(f, store=Root(d.span))


def hoist_storage(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Memory is allocated once for all iterations of loops inside `loop`, each of which has it to itself."""
    return replace(f, hoist=_level(plan, f, d))


def hoist_storage_root(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Memory is allocated once for the whole call, and each iteration has it to itself."""
    return replace(f, hoist=Root(d.span))


def store_in(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Where the values live: registers, stack, heap, shared, or the tiles of instructions."""
    name = names(d, 1)[0]
    try:
        return replace(f, memory=Memory(name))
    except ValueError:
        known = [m.value for m in Memory]
        raise error(f"unknown memory `{name}`", d.span, did_you_mean(name, known)) from None


def trace(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Its values are among those that `hbc run --trace` writes down, in the order of the loops."""
    return replace(f, traced=True)


def run_ahead(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Another thread computes what the next iteration of the loop reads, in a second buffer."""
    return replace(f, ahead=True, ahead_at=d.span)


def bound(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """A promise: along this variable exactly min .. min + extent - 1 is computed."""
    variable = variable_of(f, d)
    entry = Promise(variable, _expr(d, 1), _expr(d, 2), d.span)
    return replace(f, bounds=(*f.bounds, entry))


def reorder_storage(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """The order of the dimensions in memory, outermost first; the last is contiguous."""
    order = names(d, len(d.args))
    if sorted(order) != sorted(f.func.variables):
        have = ", ".join(f"`{v}`" for v in f.func.variables)
        hint = f"now it is `reorder_storage({', '.join(f.func.variables)})`; the last is contiguous"
        raise error(f"`reorder_storage` must name each of {have} once", d.span, hint)
    return replace(f, storage_order=order)


def pad_storage(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """The extent of a dimension in memory is rounded up to a multiple."""
    variable, multiple = variable_of(f, d), integer(d, 1)
    if multiple < 1:
        raise error(
            f"storage can be padded to multiples of at least 1, got {multiple}", d.span,
            f"`pad_storage({variable}, 16)` makes rows begin at multiples of 16 elements",
        )  # fmt: skip
    return replace(f, pads=(*f.pads, (variable, multiple)))


def fold_storage(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """So many values of a variable are kept: the next takes the place of the first, where that is proved
    to be done with."""
    return replace(f, folds=(*f.folds, (variable_of(f, d), integer(d, 1), d.span)))


def variable_of(f: FuncPlan, d: Directive) -> str:
    """The variable of the Func that the directive names first."""
    name = names(d, 1)[0]
    if name not in f.func.variables:
        have = ", ".join(f"`{v}`" for v in f.func.variables)
        raise error(
            f"`{f.func.name}` has no variable `{name}`; its variables are {have}",
            d.span,
            did_you_mean(name, f.func.variables),
        )
    return name


def _expr(d: Directive, at: int) -> ir.Expr:
    value = d.args[at]
    if isinstance(value, int):
        return ir.const_index(value)
    if isinstance(value, (str, Stage)):
        raise error(f"argument {at + 1} of `{d.name}` must be an integer or a size", d.span)
    return value


def _level(plan: Plan, f: FuncPlan, d: Directive) -> At:
    """The loop that `compute_at(Func, loop)` names for a Func; of the pure step unless an update is given."""
    at = d.args[0]
    stage = at if isinstance(at, Stage) else Stage(str(at), span=d.span)
    name = stage.name if stage.consumer is None else wrapper_name(stage.name, stage.consumer)
    loop = names(d, 2)[1]
    if name not in plan:
        raise error(f"no Func `{name}` to compute at", d.span, did_you_mean(name, plan))
    stages = plan[name].stages
    number = 0 if stage.update is None else stage.update + 1
    if number >= len(stages):
        raise error(f"`{name}` has no update {stage.update}", d.span)
    wanted = stages[number]
    if wanted.loop(loop) is None and not any(s.loop(loop) for _, s in wanted.special):
        others = [n for n, s in enumerate(stages) if s.loop(loop)]
        hint = did_you_mean(loop, [x.name for x in wanted.loops])
        if others and others[0] > 0:
            hint = f"`{loop}` is a loop of its update: `{d.name}({name}.update, {loop})`"
            readers = {(func, update) for func, update, _ in consumers(plan, f.func.name)}
            if d.name != "compute_with" and readers - {(name, others[0] - 1)}:
                hint = (
                    f"`{loop}` is a loop of its update, and `{f.func.name}` is read outside of it too: "
                    f"`{d.name.replace('_at', '_root')}()`"
                )
        raise error(
            f"`{name}` has no loop `{loop}`; its loops are {listed(wanted)}", d.span,
            hint or "a loop must exist when a later line names it: schedule the consumer first",
        )  # fmt: skip
    return At(name, stage.update, loop, d.span)
