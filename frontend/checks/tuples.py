"""Checks Funcs of several values: each part as a Func of its own, then all of them as one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from hbc.frontend.checks.definitions import (
    Draft,
    check_ambiguous,
    element_type,
    report_overwritten,
    update_types,
)
from hbc.frontend.checks.order import names_read
from hbc.frontend.checks.types import convert
from hbc.frontend.checks.updates import update
from hbc.frontend.checks.values import value
from hbc.frontend.program.funcs import Func, Part, Update
from hbc.frontend.program.literals import LITERAL_INT, UNKNOWN, is_broken, is_literal
from hbc.frontend.program.scope import Declared, Env, Scope, Signature
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.diag import Note
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_
from hbc.ir.lang.types import DType


def tuple_func(drafts: Sequence[Draft], scope: Scope) -> Func | None:
    """The checked Func of the definitions in `drafts`, one for each part, whose callees are known; None after
    a report."""
    before = len(scope.mistakes)
    names = [d.name.text for d in drafts]
    for d in drafts:
        scope.declared.setdefault(d.name.text, Declared("a Func", d.name.span))
        check_ambiguous(d, scope)
    same_extents(drafts, scope)
    if not scope.broken.isdisjoint(names):
        scope.broken.update(names)
        return None
    variables = drafts[0].variables
    env = Env(scope, {v: ir.Var(v) for v in variables}, "in a pure step")
    typed = [value(d.pure.value, env) for d in drafts]
    types = element_types(drafts, typed, scope)
    for d, e in zip(drafts, types, strict=True):
        if e is UNKNOWN and not scope.mistakes:
            scope.report(
                f"the type of `{d.name.text}` cannot be told", d.name.span,
                f"declare it, such as `{d.name.text}: f32[{', '.join(variables)}]`",
            )  # fmt: skip
    pure = tuple(
        convert(e, d.pure.value, t, f"`{d.name.text}`", scope)
        for d, e, t in zip(drafts, typed, types, strict=True)
        if t is not UNKNOWN
    )
    updates = [
        whole_update(drafts, number, types, scope) for number in range(len(drafts[0].updates))
    ]
    report_overwritten(drafts[0], scope, names_updated(drafts))
    broken = len(pure) < len(drafts) or any(map(is_broken, pure)) or None in updates
    if broken or len(scope.mistakes) > before:
        scope.broken.update(names)
        return None
    others = tuple(Part(n, t) for n, t in zip(names[1:], types[1:], strict=True))
    kept = tuple(u for u in updates if u is not None)
    span = drafts[0].name.span
    return Func(names[0], types[0], variables, ir.Tuple(pure), kept, None, span, others)


def same_extents(drafts: Sequence[Draft], scope: Scope) -> None:
    """Outputs that are defined together are computed by the same loops."""
    outputs = [scope.outputs[n] for d in drafts if (n := d.name.text) in scope.outputs]
    for other in outputs[1:]:
        first = outputs[0]
        if [linear(e) for e in first.extents] != [linear(e) for e in other.extents]:
            note = Note(f"`{first.name}` is declared here", scope.declared[first.name].span)
            scope.report(
                f"`{first.name}` and `{other.name}` are defined together, and have different extents",
                other.span, "give them the same extents, or a definition for each", note,
            )  # fmt: skip
            scope.broken.update((first.name, other.name))


def element_types(
    drafts: Sequence[Draft], typed: Sequence[ir.Expr], scope: Scope
) -> tuple[DType, ...]:
    """Of each part. Those that begin with literals take the types of their updates, which may read the
    others: first those of which an update says it without these."""
    rank, first = len(drafts[0].variables), drafts[0].name.text
    types: dict[str, DType] = {}
    waiting: list[tuple[Draft, ir.Expr]] = []

    def settled(d: Draft, e: ir.Expr) -> None:
        name = d.name.text
        types[name] = element_type(d, e, scope)
        scope.funcs[name] = Signature(types[name], rank, "" if name == first else first)

    for d, e in zip(drafts, typed, strict=True):
        name = d.name.text
        scope.funcs[name] = Signature(LITERAL_INT, rank, "" if name == first else first)
        if name in scope.outputs or d.pure.type is not None or not is_literal(e):
            settled(d, e)
        else:
            waiting.append((d, e))
    while waiting:
        ready = [(d, e) for d, e in waiting if update_types(d, scope)] or waiting
        for d, e in ready:
            settled(d, e)
        waiting = [w for w in waiting if w not in ready]
    return tuple(types[d.name.text] for d in drafts)


def whole_update(
    drafts: Sequence[Draft], number: int, types: Sequence[DType], scope: Scope
) -> Update | None:
    """One update of all parts: it runs over all reduction variables that the parts' own read."""
    parts = [
        update(d.updates[number], d.variables, t, scope)
        for d, t in zip(drafts, types, strict=True)
        if t is not UNKNOWN
    ]
    made = [u for u in parts if u is not None]
    if len(made) < len(drafts):
        return None
    variables = {r.name: r for u in made for r in u.reduce}
    conditions = list(dict.fromkeys(u.condition for u in made if u.condition is not None))
    return Update(
        made[0].indices, ir.Tuple(tuple(u.value for u in made)), None,
        tuple(variables[r] for r in scope.reduces if r in variables),
        reduce(and_, conditions) if conditions else None, made[0].span, made[0].leaves,
    )  # fmt: skip


def names_updated(drafts: Sequence[Draft]) -> list[bool]:
    """For each update whether it reads what it replaces."""
    names = {d.name.text for d in drafts}
    return [
        not names.isdisjoint(names_read(d.updates[number].value for d in drafts))
        for number in range(len(drafts[0].updates))
    ]
