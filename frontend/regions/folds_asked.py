"""Storage that a schedule folds: `fold_storage(t, n)` keeps n values of a variable, if that is proved enough.

Of a window that slides, an iteration of the loop that computes the Func needs no more than n. Of a Func that
is computed as a whole, its update goes along the variable step by step, looks back less than n steps, and
others read what the last n steps leave:

    u[t, x] = A[x];  u[t, x] = (u[t - 1, x - 1] + u[t - 1, x + 1]) / 2  t in 1 .. T;  O[x] = u[T - 1, x]
"""

from __future__ import annotations

from hbc.frontend.plans.legal import accesses_in, stage_accesses
from hbc.frontend.plans.plan import At, FuncPlan, Plan, StagePlan, stage_text
from hbc.frontend.plans.reuse import is_stored_around
from hbc.frontend.program.funcs import Func, ReduceVar, Update, values_of
from hbc.frontend.regions.fold import Probe
from hbc.frontend.regions.overwritten import pure_box
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import Box, extent_of
from hbc.ir.algebra.bounds import Facts, Interval, constant_bounds, prove
from hbc.ir.algebra.linear import difference
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import HbcError, Note, error
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, ge, le, minimum, sub
from hbc.ir.lang.show import show
from hbc.ir.lang.types import TILES
from hbc.ir.lang.walk import mentions


@record
class Fold:
    """One `fold_storage` of a Func: `count` values of `variable`, dimension `dim`."""

    f: FuncPlan
    variable: str
    count: int
    span: Span | None

    @property
    def dim(self) -> int:
        return self.f.func.variables.index(self.variable)

    def refused(self, why: str, hint: str, where: Span | None = None, what: str = "") -> HbcError:
        notes = () if where is None else (Note(what, where),)
        text = f"`{self.f.func.name}` cannot keep {self.count} values of `{self.variable}`: {why}"
        return error(text, self.span, hint, *notes)


def folds_of(f: FuncPlan) -> list[Fold]:
    return [Fold(f, variable, count, span) for variable, count, span in f.folds]


def steps_folds(
    program: Program, f: FuncPlan, box: Box, others: Box | None, scope: Scope
) -> dict[str, int]:
    """Of a Func that is computed as a whole: by variable, how many values are kept. `box` is all that is
    computed of it, `others` what others read. HbcError where these are not enough."""
    for fold in () if is_stored_around(f) else folds_of(f):
        _, most = constant_bounds(extent_of(box[fold.dim]), scope.ranges)
        if most is None or most > fold.count:
            _check_steps(program, fold, box, others, scope)
    return {} if is_stored_around(f) else {v: count for v, count, _ in f.folds}


def window_folds(f: FuncPlan, probe: Probe | None, unfolded: bool) -> dict[str, int]:
    """Of a Func that is stored around the loop that computes it, one iteration of which is probed."""
    if not is_stored_around(f) or not isinstance(f.compute, At):
        return {}
    what = f"computed here, in each iteration of `{f.compute.loop}`"
    for fold in folds_of(f):
        most = None
        if probe is not None:
            extent = extent_of(probe.boxes[f.func.name][fold.dim])
            _, most = constant_bounds(extent, probe.scope.ranges)
        if most is None or unfolded:
            raise fold.refused(
                "no constant says how many an iteration needs", "leave `fold_storage` out, or split the "
                "loop that it is computed at by a constant", f.compute.span, what,
            )  # fmt: skip
        if most > fold.count:
            raise fold.refused(
                f"an iteration needs {most}", f"write `fold_storage({fold.variable}, {most})`, or leave it "
                "out: storage that slides wraps round by itself", f.compute.span, what,
            )  # fmt: skip
    return {v: count for v, count, _ in f.folds}


def initial_box(f: FuncPlan, box: Box) -> Box:
    """What the pure step computes where some values are kept: those, since it is the same for all."""
    for fold in () if is_stored_around(f) else folds_of(f):
        low = box[fold.dim].lo
        if low is not None and f.func.updates and not _depends(f.func, fold.variable):
            extent = simplify(minimum(extent_of(box[fold.dim]), fold.count))
            kept = Interval(low, simplify(sub(add(low, extent), 1)))
            box = (*box[: fold.dim], kept, *box[fold.dim + 1 :])
    return box


def _depends(func: Func, variable: str) -> bool:
    return any(mentions(value, variable) for value in values_of(func.pure))


def _check_steps(program: Program, fold: Fold, box: Box, others: Box | None, scope: Scope) -> None:
    f, name = fold.f, fold.f.func.name
    if len(f.func.updates) != 1 or others is None:
        raise fold.refused(
            "all of it is computed before anything reads it" if not f.func.updates else
            "it is not one update that goes along it step by step",
            f"place it inside of a loop, stored around that: `{name}.store_root().compute_at(g, i)`",
        )  # fmt: skip
    if f.memory in TILES or _is_joined(program.plan, f):
        raise fold.refused("it is in tiles, or shares its loops", "leave `fold_storage` out")
    update, stage = f.func.updates[0], f.stages[1]
    r = _step_variable(fold, update)
    for each in (stage, *(special for _, special in stage.special)):
        _check_order(fold, update, each, r)
    facts = Facts(scope.ranges, program.known)
    last = simplify(sub(add(r.start, r.extent), 1))
    _check_others(fold, others[fold.dim], last, facts)
    if _depends(f.func, fold.variable):
        first = pure_box(f.func, box, scope.ranges)[fold.dim]
        _, most = constant_bounds(extent_of(first), facts)
        kept = first.hi is not None and prove(le(first.hi, add(r.start, fold.count - 1)), facts)
        if most is None or most > fold.count or not kept:
            raise fold.refused(
                f"its first value depends on `{fold.variable}`, and a step may leave some of it as it is",
                f"let the definition not depend on `{fold.variable}`, or the update set every element",
                f.func.span, "the first value",
            )  # fmt: skip


def _is_joined(plan: Plan, f: FuncPlan) -> bool:
    joins = [(p.func.name, s.joins.func) for p in plan.values() for s in p.stages if s.joins]
    return any(f.func.name in pair for pair in joins)


def _step_variable(fold: Fold, update: Update) -> ReduceVar:
    """The reduction that steps along the folded variable, where each step touches the same places and reads
    no more of the Func than what is kept."""
    func, d = fold.f.func, fold.dim
    index = update.indices[d]
    r = next((r for r in update.reduce if index == ir.Var(r.name)), None)
    if r is None:
        raise fold.refused(
            f"its update does not go along `{fold.variable}`", f"let a reduction be the index along "
            f"`{fold.variable}`, or leave `fold_storage` out", update.span, "the update",
        )  # fmt: skip
    others = (*update.indices[:d], *update.indices[d + 1 :])
    fixed = (*others, *(() if update.condition is None else (update.condition,)))
    own = [a for e in fixed for a in accesses_in(e) if a.name == func.name]
    ends = [x for o in update.reduce if o is not r for x in (o.start, o.extent)]
    if own or update.leaves or any(mentions(e, r.name) for e in (*fixed, *ends)):
        raise fold.refused(
            f"which elements are set depends on `{r.name}`", "leave `fold_storage` out", update.span,
            "the update",
        )  # fmt: skip
    for a in stage_accesses(func, 0):
        if a.name != func.name:
            continue
        back = difference(index, a.indices[d])
        if back is None or not 1 <= back < fold.count:
            hint = "leave `fold_storage` out"
            if back is not None and back >= fold.count:
                hint = f"write `fold_storage({fold.variable}, {back + 1})`"
            raise fold.refused(
                f"a step reads `{_text(a)}`, and what is kept ends {counted(fold.count - 1, 'step')} back",
                hint, a.span or update.span, "read here",
            )  # fmt: skip
    return r


def _text(a: ir.Access) -> str:
    return f"{a.array}[{', '.join(show(simplify(i)) for i in a.indices)}]"


def _check_order(fold: Fold, update: Update, stage: StagePlan, r: ReduceVar) -> None:
    """Loops around those of the steps must each stay in a column of its own, of which all steps are done
    before the next one."""
    func = fold.f.func
    steps = [n for n, x in enumerate(stage.loops) if r.name in stage.root_of(x.dim)]
    around = [x for x in stage.loops[: steps[-1] + 1] if stage.root_of(x.dim) != {r.name}]
    apart = {
        root
        for root in frozenset[str]().union(*(stage.root_of(x.dim) for x in around))
        for a in stage_accesses(func, 0)
        if a.name == func.name and not _in_own_column(a, update, root)
    }
    if apart:
        loop = next(x for x in around if stage.root_of(x.dim) & apart)
        raise fold.refused(
            f"the loop `{loop.name}` is around that of the steps, and a step reads what other iterations of "
            "it leave", f"make the loop over `{r.name}` the outermost of `{stage_text(stage)}`",
            loop.span or update.span, "the loop" if loop.span else "the update",
        )  # fmt: skip


def _in_own_column(a: ir.Access, update: Update, root: str) -> bool:
    """Whether what is read has the index of what is written wherever the variable is one."""
    return all(
        read == written
        for read, written in zip(a.indices, update.indices, strict=True)
        if mentions(written, root) or mentions(read, root)
    )


def _check_others(fold: Fold, read: Interval, last: ir.Expr, facts: Facts) -> None:
    kept = simplify(sub(last, fold.count - 1))
    low = read.lo is not None and prove(ge(read.lo, kept), facts)
    if low and read.hi is not None and prove(le(read.hi, last), facts):
        return
    raise fold.refused(
        f"others read `{_end(read.lo)}` to `{_end(read.hi)}`, and `{show(kept)}` to `{show(last)}` are left",
        "read the last ones alone, or leave `fold_storage` out", fold.f.func.updates[0].span, "the steps",
    )  # fmt: skip


def _end(e: ir.Expr | None) -> str:
    return "?" if e is None else show(simplify(e))
