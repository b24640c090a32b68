"""The order in which steps with loops in common run, and whether it keeps the meaning.

What one step makes and another uses must be made before: in an earlier iteration of the loops that they
share, or in the same one by a step that comes first there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from hbc.frontend.plans.inline import inline_funcs
from hbc.frontend.plans.joined_distance import first_made_later
from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import (
    At,
    FuncPlan,
    Inline,
    Level,
    Plan,
    StagePlan,
    stage_at,
    stage_text,
)
from hbc.ir.ground.diag import Diagnostic, Note

Together = tuple[StagePlan, ...]
"""Steps with loops in common: the leader, then the others as they come in an iteration."""

Key = tuple[str, int | None]
_Item = TypeVar("_Item", bound=Hashable)


def nests_at(plan: Plan, level: Level) -> list[list[Together]]:
    """What is computed at a level, in order: Funcs that hang together by their steps, each with its
    nests. Where none do, a Func at a time, callees first."""
    funcs = [f for f in plan.values() if f.compute == level]
    if all(s.joins is None for f in funcs for s in f.stages):
        return [[(s,) for s in f.stages] for f in funcs]
    together = _together(funcs)
    reads = {key: _reads(plan, key) for f in funcs for key in _keys(f)}
    groups = list(dict.fromkeys(together.values()))
    order = in_order(groups, lambda group: _needed_groups(plan, group, together, reads))
    return [_nests(plan, group, reads) or [] for group in order or ()]


def joined_to(plan: Plan, stage: StagePlan) -> Together:
    """A step and those that come in its loops."""
    level = plan[stage.func].compute
    all_nests = (n for nests in nests_at(plan, level) for n in nests)
    return next((n for n in all_nests if n[0] == stage), (stage,))


def check_joined(plan: Plan) -> list[Diagnostic]:
    """What keeps steps from the loops that they are to share."""
    joined = [s for f in plan.values() for s in f.stages if s.joins is not None]
    if not joined:
        return []
    plan = inline_funcs(plan)
    levels = dict.fromkeys(plan[s.func].compute for s in joined)
    return [d for level in levels for d in _wrong_at(plan, level)]


def _wrong_at(plan: Plan, level: Level) -> Iterator[Diagnostic]:
    funcs = [f for f in plan.values() if f.compute == level]
    together = _together(funcs)
    reads = {key: _reads(plan, key) for f in funcs for key in _keys(f)}
    groups = list(dict.fromkeys(together.values()))
    if in_order(groups, lambda g: _needed_groups(plan, g, together, reads)) is None:
        yield from _between(plan, funcs, together, reads)
        return
    for group in groups:
        nests = _nests(plan, group, reads)
        if nests is None:
            yield from _incomplete(plan, group, reads)
            continue
        for nest in nests:
            yield from _wrong_in(plan, nest)


def _wrong_in(plan: Plan, nest: Together) -> Iterator[Diagnostic]:
    """Of the steps of one nest what a later one uses of an earlier one, and is not there yet."""
    names = {s.func for s in nest}
    if len(nest) > 1:
        for inner in plan.values():
            around = {(s.func, s.update) for s in stages_around(plan, inner.compute)}
            if around.isdisjoint((s.func, s.update) for s in nest):
                continue
            read = [
                a for u in _updates(inner) for a in stage_accesses(inner.func, u) if a.name in names
            ]
            if read:
                yield Diagnostic(
                    f"`{inner.func.name}` reads `{read[0].name}`, and is computed inside of loops that "
                    f"`{read[0].name}` shares", _joined(nest).span,
                    f"let `{inner.func.name}` be inlined, or leave `compute_with` out",
                    () if read[0].span is None else (Note("read here", read[0].span),),
                )  # fmt: skip
                return
    for n, second in enumerate(nest):
        for first in nest[:n]:
            later = first_made_later(plan, first, second)
            if later is None:
                continue
            access, why, hint = later
            yield Diagnostic(
                f"`{stage_text(second)}` cannot have the loops of `{stage_text(first)}` down to "
                f"`{_joined((first, second)).loop}`: {why}", _joined((first, second)).span,
                hint,
                () if access.span is None else (Note("this one", access.span),),
            )  # fmt: skip
            return


def _joined(nest: Sequence[StagePlan]) -> At:
    """The last of their directives: the loop that all of them have."""
    return next(s.joins for s in reversed(nest) if s.joins is not None)


def _between(
    plan: Plan, funcs: list[FuncPlan], together: Mapping[str, frozenset[str]],
    reads: Mapping[Key, frozenset[str]],
) -> Iterator[Diagnostic]:  # fmt: skip
    """A Func that reads one of those that hang together, and is read by another of them."""
    for f in funcs:
        own = together[f.func.name]
        joined = [s for g in funcs if g.func.name in own for s in g.stages if s.joins is not None]
        for m in sorted(set(_needed_by(f.func.name, reads, together)) - own) if joined else ():
            used = sorted(own & set(_needed_by(m, reads, together)))
            if used:
                yield Diagnostic(
                    f"`{m}` is computed from `{used[0]}`, and `{f.func.name}` from `{m}`: the loops that "
                    f"`{used[0]}` and `{f.func.name}` have in common leave no place for it",
                    _joined(joined).span,
                    f"let `{m}` be inlined, or leave `compute_with` out",
                )  # fmt: skip
                return


def _needed_by(
    name: str, reads: Mapping[Key, frozenset[str]], together: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    """The Funcs of the level that one reads, directly or by others of them."""
    seen, left = {name}, [name]
    while left:
        one = left.pop()
        for read in sorted(r for (f, _), names in reads.items() if f == one for r in names):
            if read in together and read not in seen:
                seen.add(read)
                left.append(read)
                yield read


def _incomplete(
    plan: Plan, group: frozenset[str], reads: Mapping[Key, frozenset[str]]
) -> Iterator[Diagnostic]:
    """A step that would come before one that makes what it reads."""
    for f in (f for name, f in plan.items() if name in group):
        for s in (s for s in f.stages if s.joins is not None):
            read = next((n for n in sorted(reads[s.func, s.update] & group) if n != s.func), None)
            leader = stage_text(stage_at(plan, _joined((s,))))
            what = f"steps of `{f.func.name}` and of what it shares loops with would change places"
            if read is not None:
                what = f"it reads `{read}`, which is not complete there"
            yield Diagnostic(
                f"`{stage_text(s)}` cannot have the loops of `{leader}`: {what}", _joined((s,)).span,
                "share the loops of the last step that it reads, and those of steps in the same order",
            )  # fmt: skip
            return


def _together(funcs: Iterable[FuncPlan]) -> dict[str, frozenset[str]]:
    """By Func, those that have loops in common with it, or with one that has."""
    groups = {f.func.name: frozenset({f.func.name}) for f in funcs}
    for f in funcs:
        for s in f.stages:
            if s.joins is not None:
                both = groups[f.func.name] | groups[s.joins.func]
                groups |= dict.fromkeys(both, both)
    return groups


def _needed_groups(
    plan: Plan, group: frozenset[str], together: Mapping[str, frozenset[str]],
    reads: Mapping[Key, frozenset[str]],
) -> set[frozenset[str]]:  # fmt: skip
    names = {n for name in group for key in _keys(plan[name]) for n in reads[key]}
    return {together[n] for n in names if n in together} - {group}


def _nests(
    plan: Plan, group: frozenset[str], reads: Mapping[Key, frozenset[str]]
) -> list[Together] | None:
    """The nests of Funcs that hang together: each step after those before it and after all steps of what it
    reads, or in one nest with them. None where there is no such order."""
    stages = {(s.func, s.update): s for name, f in plan.items() if name in group for s in f.stages}
    leaders = {
        key: key if s.joins is None else (s.joins.func, s.joins.update) for key, s in stages.items()
    }

    def needed(leader: Key) -> set[Key]:
        before: set[Key] = set()
        for name, update in (key for key, its in leaders.items() if its == leader):
            for read in reads[name, update] & group - {name}:
                before |= {leaders[key] for key in _keys(plan[read])}
            before |= {
                leaders[key] for key in _keys(plan[name]) if _number(key) < _number((name, update))
            }
        return before - {leader}

    order = in_order([key for key, its in leaders.items() if its == key], needed)
    if order is None:
        return None
    nests = []
    for leader in order:
        others = [s for key, s in stages.items() if leaders[key] == leader and key != leader]
        nests.append((stages[leader], *sorted(others, key=lambda s: -s.shared)))
    return nests


def in_order(items: Sequence[_Item], needed: Callable[[_Item], set[_Item]]) -> list[_Item] | None:
    """The items, each as early as it was, but behind those it needs; None where they need each other."""
    left, order = list(items), list[_Item]()
    while left:
        free = next((x for x in left if needed(x).isdisjoint(left)), None)
        if free is None:
            return None
        left.remove(free)
        order.append(free)
    return order


def stages_around(plan: Plan, level: Level) -> Iterator[StagePlan]:
    """The steps in whose loops a level is, from the inside out."""
    while isinstance(level, At):
        stage = stage_at(plan, level)
        yield stage
        level = stage.joins or plan[level.func].compute


def _reads(plan: Plan, key: Key) -> frozenset[str]:
    """What a step reads, and what the Funcs do that are computed inside of its loops."""
    name, update = key
    names = {a.name for a in stage_accesses(plan[name].func, update)}
    for f in plan.values():
        if isinstance(f.compute, Inline) or f.func.name == name:
            continue
        if any((s.func, s.update) == key for s in stages_around(plan, f.compute)):
            names |= {a.name for u in _updates(f) for a in stage_accesses(f.func, u)}
    return frozenset(names)


def _updates(f: FuncPlan) -> list[int | None]:
    return [s.update for s in f.stages]


def _keys(f: FuncPlan) -> list[Key]:
    return [(s.func, s.update) for s in f.stages]


def _number(key: Key) -> int:
    return -1 if key[1] is None else key[1]
