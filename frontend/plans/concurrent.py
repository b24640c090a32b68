"""Which loops may run all iterations at once, in lanes or threads."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.plans.legal import is_reorderable, scans, stage_accesses
from hbc.frontend.plans.plan import Loop, Split, StagePlan, scan_distances, stage_text, step
from hbc.frontend.program.funcs import Directive, Func, ReduceVar, Update
from hbc.ir.algebra.linear import difference
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables


def listed(variables: Iterable[str]) -> str:
    return ", ".join(f"`{v}`" for v in variables)


def check_concurrent(func: Func, stage: StagePlan, loop: Loop, d: Directive, what: str) -> None:
    """Lanes or threads must not depend on each other."""
    update = step(func, stage.update)
    variables = check_reordered(func, stage, loop, d, what)
    if update is None or not variables:
        return
    name = ", ".join(f"`{r.name}`" for r in variables)
    then = ", ".join(["u", *map(str, d.args[1:])])
    factored = (
        f"write `{stage_text(stage)}.rfactor({loop.name}, u)`: partial results along a new variable, "
        f"in `{func.name}_u`; and then `{func.name}_u.update.{d.name}({then})`"
    )
    if what == "parallel":
        raise error(
            f"cannot run the reduction loop `{loop.name}` in parallel: threads would add to the "
            f"same elements of `{func.name}`", d.span,
            factored,
        )  # fmt: skip
    if any(r.name in free_variables(i) for r in variables for i in update.indices):
        raise error(
            f"cannot vectorize `{loop.name}`: lanes may add to the same element of `{func.name}`, "
            f"whose place depends on {name}", d.span, f"{factored}; or vectorize another loop",
        )  # fmt: skip
    if not stage.atomic:
        raise error(
            f"cannot vectorize the reduction loop `{loop.name}` without `atomic`: lanes would add "
            f"to the same elements of `{func.name}`", d.span,
            f"write `.atomic().{d.name}({', '.join([loop.name, *map(str, d.args[1:])])})`: the sum is then "
            "taken in any order",
        )  # fmt: skip


def check_reordered(
    func: Func, stage: StagePlan, loop: Loop, d: Directive, what: str
) -> list[ReduceVar]:
    """The variables of the reduction along which iterations of a loop change the same elements, none
    where they do not; HbcError where these have to come one after the other."""
    update = step(func, stage.update)
    if update is None or is_independent(func, stage, loop):
        return []
    variables = _reduced(update, stage, loop)
    if not is_reorderable(func, update):
        parallel = what == "parallel"
        done = f"run `{loop.name}` in parallel" if parallel else f"{what} `{loop.name}`"
        why, hint = order_of(func, update, variables, stage, what)
        raise error(f"cannot {done}: {why}", d.span, hint)
    return variables


def order_of(
    func: Func, update: Update, variables: list[ReduceVar], stage: StagePlan, what: str
) -> tuple[str, str]:
    """Why iterations along the variables keep their order, and what else may be done."""
    name = ", ".join(f"`{r.name}`" for r in variables)
    free = [v for v, i in zip(func.variables, update.indices, strict=True) if _is_variable(i, v)]
    hint = (
        f"do so with a loop over a pure variable of `{func.name}`: {listed(free)}" if free else
        f"leave the loop serial: `{stage_text(stage)}` has none over a pure variable; a step that is a "
        "Func of its own has"
    )  # fmt: skip
    if not scans(func, update):
        return f"a step along {name} may overwrite what the one before wrote", hint
    all_distances = [scan_distances(func, update, r) for r in variables]
    # Steps along a variable that no index has change the same element.
    distances = [
        x for f, r in zip(all_distances, variables, strict=True) for x in (f or _same(update, r))
    ]
    back, ahead = [x for x in distances if x > 0], [-x for x in distances if x < 0]
    if back:
        which = "the one before" if min(back) == 1 else f"the one {min(back)} before"
        if what == "vectorize" and min(back) > 1:
            hint += f"; or with at most {min(back)} lanes along {name}"
        return f"each step of the scan along {name} reads {which}", hint
    if ahead:
        which = "the next one" if min(ahead) == 1 else f"the one {min(ahead)} after it"
        return f"each step along {name} reads what {which} overwrites", hint
    return f"a step of the scan along {name} may read what another one wrote", hint


def _same(update: Update, r: ReduceVar) -> tuple[int, ...]:
    return () if any(r.name in free_variables(i) for i in update.indices) else (1,)


def _is_variable(index: ir.Expr, name: str) -> bool:
    return isinstance(index, ir.Var) and index.name == name


def _read_from_steps_before(
    func: Func, update: Update, r: ReduceVar, stage: StagePlan, loop: Loop
) -> bool:
    """Whether all that other iterations of r wrote is read at an earlier step of a reduction whose loops are
    around this one: those of one step do not touch each other, as in Jacobi's method.

        u[t, x] = (u[t - 1, x - 1] + u[t - 1, x + 1]) / 2        x, within one step of t
    """
    own = _dimension(update, r)
    if own is None:
        return False
    reads = [a for a in stage_accesses(func, stage.update) if a.name == func.name]
    moved = [a for a in reads if difference(update.indices[own], a.indices[own]) != 0]
    return any(
        _is_around(stage, q, loop) and all(_is_before(update, q, a) for a in moved)
        for q in update.reduce
        if q is not r
    )


def _is_before(update: Update, q: ReduceVar, read: ir.Access) -> bool:
    """Whether what is read is of a step of q before."""
    at = _dimension(update, q)
    back = None if at is None else difference(update.indices[at], read.indices[at])
    return back is not None and back > 0


def _is_around(stage: StagePlan, q: ReduceVar, loop: Loop) -> bool:
    """Whether all loops over a reduction variable are around a loop: it runs within one step."""
    dims = [x.dim for x in stage.loops]
    over = [n for n, dim in enumerate(dims) if q.name in stage.root_of(dim)]
    return all(n < dims.index(loop.dim) for n in over)


def _dimension(update: Update, r: ReduceVar) -> int | None:
    """The one that r alone runs over."""
    return next((d for d, i in enumerate(update.indices) if _is_variable(i, r.name)), None)


def is_independent(func: Func, stage: StagePlan, loop: Loop) -> bool:
    """Whether no iteration of the loop touches what another one writes, all other loops being equal."""
    update = step(func, stage.update)
    if update is None:
        return True
    return all(
        _independent(func, update, r, stage, loop)
        or _read_from_steps_before(func, update, r, stage, loop)
        for r in _reduced(update, stage, loop)
    )


def _reduced(update: Update, stage: StagePlan, loop: Loop) -> list[ReduceVar]:
    """The reduction variables that a loop is made from."""
    names = stage.root_of(loop.dim) & stage.reduce
    return [r for r in update.reduce if r.name in names]


def _independent(func: Func, update: Update, r: ReduceVar, stage: StagePlan, loop: Loop) -> bool:
    """Whether no iteration of the loop reads what another one writes, all other loops being equal:
    each read is of the same place, or further away than the loop goes."""
    distances = scan_distances(func, update, r)
    reach = _reach(stage, loop.dim, r.name)
    if distances is None:
        return False
    return all(x == 0 or (reach is not None and abs(x) >= reach) for x in distances)


def _reach(stage: StagePlan, dim: str, root: str) -> int | None:
    """All values of `root` over one run of the loop over `dim` lie less than this apart."""
    for r in stage.relations:
        if isinstance(r, Split) and r.inner == dim:
            step = _step(stage, r.old, root)
            return None if step is None else r.factor * step
    return None


def _step(stage: StagePlan, dim: str, root: str) -> int | None:
    """How far `root` moves when `dim` grows by one."""
    if dim == root:
        return 1
    for r in stage.relations:
        if isinstance(r, Split) and dim in (r.inner, r.outer):
            step = _step(stage, r.old, root)
            return None if step is None else step * (r.factor if dim == r.outer else 1)
    return None
