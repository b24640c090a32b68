"""Which schedules keep the meaning: scans keep their order, producers lie around their consumers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hbc.frontend.plans.ahead import check_ahead
from hbc.frontend.plans.plan import (
    At,
    FuncPlan,
    Inline,
    Level,
    Loop,
    Plan,
    Root,
    StagePlan,
    is_associative,
    is_parallel_safe,
    stage_at,
    stage_text,
    step,
)
from hbc.frontend.plans.shared_storage import check_shared_storage
from hbc.frontend.program.funcs import Func, Update
from hbc.ir.ground.diag import Diagnostic, Note, error
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import nodes, nodes_of


def is_reorderable(func: Func, update: Update) -> bool:
    """Any order of the reduction gives the same result (float rounding aside)."""
    return is_associative(func, update) or not scan_variables(func, update)


def scan_variables(func: Func, update: Update) -> frozenset[str]:
    """Reduction variables whose iterations must stay in order."""
    if is_associative(func, update):
        return frozenset()
    return frozenset(r.name for r in update.reduce if not is_parallel_safe(func, update, r))


def check_order(func: Func, old: StagePlan, new: StagePlan, span: Span | None) -> None:
    """Refuses a reordering of the loops that a scan runs along."""
    update = step(func, old.update)
    if update is None:
        return
    ordered = scan_variables(func, update)
    before = [x.name for x in old.loops if old.root_of(x.dim) & ordered]
    after = [x.name for x in new.loops if new.root_of(x.dim) & ordered]
    if before != after:
        first, second = next((a, b) for a, b in zip(before, after, strict=True) if a != b)
        stage = f"`{stage_text(old)}`"
        if scans(func, update):
            why = f"{stage} is a scan, and each step reads what the one before wrote"
        else:
            why = f"a step of {stage} may overwrite what the one before wrote"
        raise error(
            f"cannot move loop `{second}` outside `{first}`: {why}", span,
            f"keep the order {', '.join(f'`{n}`' for n in before)}; loops over pure variables may move",
        )  # fmt: skip


def scans(func: Func, update: Update) -> bool:
    """Whether a step reads the Func that it writes."""
    expressions = (update.value, *update.indices)
    return any(
        isinstance(n, ir.Access) and n.name == func.name for e in expressions for n in nodes(e)
    )


def check_shift(func: Func, stage: StagePlan, loop: Loop, span: Span | None) -> None:
    """`tail = shift` computes some elements twice, which only a pure step survives."""
    if stage.update is not None:
        raise error(
            f"`tail = shift` would apply `{stage_text(stage)}` twice to the elements where the last "
            "piece overlaps", span, "use `tail = mask` or `tail = guard` on updates",
        )  # fmt: skip


def check_levels(plan: Plan) -> Iterator[Diagnostic]:
    """Every Func must be computed around all its consumers, and stored around its computation."""
    for name, f in plan.items():
        if isinstance(f.compute, Inline):
            yield from check_ahead(plan, f)
            continue
        for func, update, span in consumers(plan, name):
            reader = plan[func]
            if isinstance(f.compute, At) and not is_within(plan, func, update, f.compute):
                text = stage_text(reader.stages[0 if update is None else update + 1])
                where = At(f.compute.func, f.compute.update, f.compute.loop)
                yield Diagnostic(
                    f"`{name}` is computed at loop `{where.loop}` of `{where.func}`, but `{text}` "
                    "reads it outside of that loop",
                    f.compute.span or f.span,
                    f"compute `{name}` at a loop that is around all its consumers, or at the root",
                    () if span is None else (Note("read here", span),),
                )
                break
        if f.store is not None and not _encloses(plan, f.store, f.compute):
            yield Diagnostic(
                f"`{name}` is stored inside the loop it is computed at",
                (f.store.span if isinstance(f.store, At) else None) or f.span,
                "`store_at` must name the same loop as `compute_at` or one around it",
            )
        stored = f.compute if f.store is None else f.store
        if f.hoist is not None and not _encloses(plan, f.hoist, stored):
            yield Diagnostic(
                f"the memory of `{name}` would be allocated inside of where it is stored",
                (f.hoist.span if isinstance(f.hoist, At | Root) else None) or f.span,
                "`hoist_storage` must name a loop around those of `store_at` and `compute_at`",
            )
        yield from check_shared_storage(plan, f)
        yield from check_ahead(plan, f)
        yield from _vector_levels(plan, f)
        yield from _special_levels(plan, f)


def _vector_levels(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    for level in (f.compute, f.store, f.hoist):
        if isinstance(level, At):
            around = [_vector_around(stage, level.loop) for stage in _variants(plan, level)]
            if vector := next(filter(None, around), None):
                yield Diagnostic(
                    f"`{f.func.name}` cannot be computed inside the vectorized loop `{vector.name}`",
                    level.span or f.span, "name a loop outside of it",
                )  # fmt: skip


def _vector_around(stage: StagePlan, name: str) -> Loop | None:
    """The vectorized loop that this loop is, or is inside of."""
    names = [x.name for x in stage.loops]
    outward = stage.loops[: names.index(name) + 1] if name in names else ()
    return next((x for x in outward if x.kind is ir.LoopKind.VECTOR), None)


def _variants(plan: Plan, level: At) -> tuple[StagePlan, ...]:
    """The stage that a level names, and every special copy of it."""
    stage = stage_at(plan, level)
    return (stage, *(special for _, special in stage.special))


def _special_levels(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """The loop must be there in the general loops and in every special copy of them."""
    for level in (f.compute, f.store, f.hoist):
        if isinstance(level, At):
            variants = _variants(plan, level)
            if any(variant.loop(level.loop) is None for variant in variants):
                yield Diagnostic(
                    f"`{stage_text(variants[0])}` has the loop `{level.loop}` only in some of its "
                    "specialized copies",
                    level.span or f.span,
                    f"`{f.func.name}` is needed in all of them: name a loop that all have",
                )


def consumers(
    plan: Plan, name: str, seen: set[str] | None = None
) -> Iterator[tuple[str, int | None, Span | None]]:
    """The stages that read `name`, seen through inlined Funcs, each of which is looked through once; its
    own updates excluded."""
    seen = set() if seen is None else seen
    for other, f in plan.items():
        if other == name:
            continue
        for update in (None, *range(len(f.func.updates))):
            for access in stage_accesses(f.func, update):
                if access.name != name:
                    continue
                if not isinstance(f.compute, Inline):
                    yield other, update, access.span
                elif other not in seen:
                    seen.add(other)
                    yield from consumers(plan, other, seen)


def stage_expressions(func: Func, update: int | None) -> tuple[ir.Expr, ...]:
    """All expressions that a step evaluates: value, condition, left-hand indices."""
    u = step(func, update)
    if u is None:
        return (func.pure,)
    condition = () if u.condition is None else (u.condition,)
    return (u.value, *condition, *u.indices)


def stage_accesses(func: Func, update: int | None) -> list[ir.Access]:
    return [a for e in stage_expressions(func, update) for a in accesses_in(e)]


MOST_REMEMBERED: Final = 4096  # expressions; then all is forgotten
# By identity, since a step is asked at each level of the loops; the expression is held to stay alive.
_accesses: dict[int, tuple[ir.Expr, tuple[ir.Access, ...]]] = {}


def accesses_in(e: ir.Expr) -> tuple[ir.Access, ...]:
    """What an expression reads of Funcs and inputs, in reading order."""
    known = _accesses.get(id(e))
    if known is None:
        if len(_accesses) >= MOST_REMEMBERED:
            _accesses.clear()
        known = e, tuple(nodes_of(e, ir.Access))
        _accesses[id(e)] = known
    return known[1]


def is_within(plan: Plan, func: str, update: int | None, level: At) -> bool:
    """Whether a stage runs inside the body of the loop that `level` names."""
    if (func, update) == (level.func, level.update):
        return True
    joins = stage_at(plan, At(func, update, "")).joins
    if joins is not None and is_level_inside(plan, joins, level):
        return True
    at = plan[func].compute
    if func == level.func:
        return False
    return isinstance(at, At) and is_level_inside(plan, at, level)


def is_level_inside(plan: Plan, inner: At, outer: At) -> bool:
    """Whether the body of one loop is that of the other or within it."""
    if (inner.func, inner.update) == (outer.func, outer.update):
        order = [x.name for x in stage_at(plan, inner).loops]
        if inner.loop not in order or outer.loop not in order:
            return inner.loop == outer.loop
        return order.index(inner.loop) >= order.index(outer.loop)
    at = stage_at(plan, inner).joins or plan[inner.func].compute
    return isinstance(at, At) and is_level_inside(plan, at, outer)


def _encloses(plan: Plan, outer: Level, inner: Level) -> bool:
    if isinstance(outer, Root):
        return True
    if isinstance(outer, At) and isinstance(inner, At):
        return is_level_inside(plan, inner, outer)
    return False
