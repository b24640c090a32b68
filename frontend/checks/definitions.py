"""Checks definitions: pure steps, their updates, and the element types of Funcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from hbc.frontend.checks.declarations import type_named
from hbc.frontend.checks.names import declare
from hbc.frontend.checks.order import names_read
from hbc.frontend.checks.types import convert, suggestion, text
from hbc.frontend.checks.updates import update
from hbc.frontend.checks.values import value
from hbc.frontend.program.funcs import Func
from hbc.frontend.program.literals import (
    LITERAL_FLOAT,
    LITERAL_INT,
    UNKNOWN,
    default_type,
    element,
    is_broken,
    is_literal,
)  # fmt: skip
from hbc.frontend.program.scope import Declared, Env, Scope, Signature
from hbc.frontend.text import ast
from hbc.ir.ground.diag import Note
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import WHOLE, DType, widen


@mutable
class Draft:
    """The definitions of one name, in the order of the file."""

    name: ast.Ident
    pure: ast.Definition
    updates: list[ast.Definition] = field(default_factory=list)
    variables: tuple[str, ...] = ()

    @property
    def group(self) -> tuple[str, ...]:
        """The names that are defined together with this one, itself included."""
        return tuple(n.text for n in self.pure.group) or (self.name.text,)


def drafts(file: ast.File, scope: Scope) -> dict[str, Draft]:
    """Collects definitions by name, declares the Funcs and checks the left side of pure steps."""
    drafts_by_name: dict[str, Draft] = {}
    for s in file.statements:
        if not isinstance(s, ast.Definition):
            continue
        name = s.name.text
        if name in drafts_by_name:
            if is_of_group(s, drafts_by_name[name], scope):
                drafts_by_name[name].updates.append(s)
        elif name in scope.outputs or name not in scope.declared:
            begin(s, drafts_by_name, scope)
        elif name not in scope.broken:
            previous = scope.declared[name]
            note = Note(f"`{name}` is {previous.what}", previous.span)
            scope.report(f"`{name}` is {previous.what} and cannot be defined", s.name.span,
                         "define a Func or an output of another name", note)  # fmt: skip
            scope.broken.add(name)
    return drafts_by_name


def is_of_group(s: ast.Definition, draft: Draft, scope: Scope) -> bool:
    """What is defined together is updated together."""
    name, group = s.name.text, tuple(n.text for n in s.group) or (s.name.text,)
    if sorted(group) == sorted(draft.group):
        return True
    scope.broken.update((*draft.group, *group))
    note = Note(f"`{name}` is defined here", draft.pure.span)
    shown = ", ".join(f"{n}[...]" for n in draft.group)
    hint = f"write `({shown}) {s.op} (...)`" if len(draft.group) > 1 else None
    scope.report(
        f"`{name}` is defined {together(name, draft.group)}, and updated {together(name, group)}",
        s.name.span, hint or f"write a definition of its own for `{name}`, or define all together", note,
    )  # fmt: skip
    return False


def together(name: str, group: tuple[str, ...]) -> str:
    others = " and ".join(f"`{n}`" for n in group if n != name)
    return f"together with {others}" if others else "alone"


def begin(s: ast.Definition, drafts: dict[str, Draft], scope: Scope) -> None:
    name = s.name.text
    if name not in scope.outputs and not declare(scope, s.name, "a Func"):
        return
    drafts[name] = Draft(s.name, s)
    variables = pure_variables(s, scope)
    if variables is None:
        scope.broken.add(name)
        return
    drafts[name].variables = variables
    if s.condition is not None:
        scope.report(
            f"the pure step of `{name}` has a condition", s.condition.span,
            "a value is needed everywhere: write `select(condition, a, b)`",
        )  # fmt: skip
    if name in scope.outputs and len(variables) != len(scope.outputs[name].extents):
        rank = len(scope.outputs[name].extents)
        note = Note(f"`{name}` is declared here", scope.declared[name].span)
        scope.report(
            f"output `{name}` has {rank} dimension{'s' * (rank > 1)}, and is defined with"
            f" {len(variables)}",
            s.name.span, None, note,
        )  # fmt: skip
        scope.broken.add(name)


def names_or_none(s: ast.Definition) -> list[str]:
    """The indices on the left as far as they are names, "" for others."""
    return [i.text if isinstance(i, ast.Name) else "" for i in s.indices]


def pure_variables(s: ast.Definition, scope: Scope) -> tuple[str, ...] | None:
    """The variables of a first definition: plain, distinct and new."""
    name = s.name.text
    names = [i.text for i in s.indices if isinstance(i, ast.Name)]
    own = [n if n not in scope.declared and names.count(n) == 1 else "" for n in names_or_none(s)]
    free = iter([v for v in "xyzwuvpqrst" if v not in own] + [f"x{d}" for d in range(len(own))])
    shown = ", ".join(n or next(free) for n in own)
    hint = f"begin with its value everywhere, such as `{name}[{shown}] = 0`"
    if s.op != "=" or len(names) < len(s.indices):
        scope.report(f"`{name}` is updated before it has a value", s.name.span, hint)
        return None
    for i in s.indices:
        assert isinstance(i, ast.Name)
        if i.text in scope.declared and i.text not in scope.reduces:
            declared = scope.declared[i.text]
            scope.report(
                f"`{i.text}` is {declared.what} and cannot be a variable of `{name}`", i.span,
                "choose another name for the variable", Note("it is declared here", declared.span),
            )  # fmt: skip
            return None
    for at, n in enumerate(names):
        if n in names[:at]:
            scope.report(f"`{n}` stands twice on the left", s.indices[at].span, hint)
            return None
    return tuple(names)


def func(draft: Draft, scope: Scope) -> Func | None:
    """The checked Func, whose callees are known; None after a report."""
    name, pure = draft.name.text, draft.pure
    scope.declared.setdefault(name, Declared("a Func", draft.name.span))
    before = len(scope.mistakes)
    rank = len(pure.indices)
    check_ambiguous(draft, scope)
    env = Env(scope, {v: ir.Var(v) for v in draft.variables}, "in a pure step")
    if name not in scope.broken:
        typed = value(pure.value, env)
        t = element_type(draft, typed, scope)
    else:
        typed, t = ir.Var("", UNKNOWN(1)), UNKNOWN
    scope.funcs[name] = Signature(t, rank)
    if t is not UNKNOWN:
        typed = convert(typed, pure.value, t, f"`{name}`", scope)
    updates = tuple(update(u, draft.variables, t, scope) for u in draft.updates if draft.variables)
    report_overwritten(draft, scope)
    if t is UNKNOWN and not scope.mistakes:
        scope.report(
            f"the type of `{name}` cannot be told: its first value is a literal, and the updates say "
            "only together with it what they are", draft.name.span,
            f"declare it, such as `{name}: f32[{', '.join(draft.variables)}] = ...`",
        )  # fmt: skip
    if is_broken(typed) or None in updates or len(scope.mistakes) > before:
        scope.broken.add(name)
        return None
    kept = tuple(u for u in updates if u is not None)
    return Func(name, t, draft.variables, typed, kept, None, draft.name.span)


def check_ambiguous(draft: Draft, scope: Scope) -> None:
    """A pure variable may have the name of a reduction variable only where no update could mean
    either."""
    for v, i in zip(draft.variables, draft.pure.indices, strict=False):
        if v in scope.reduces and draft.updates:
            scope.report(
                f"`{v}` is a reduction variable, and could mean either in the updates of"
                f" `{draft.name.text}`", i.span, "choose another name on the left",
                Note("it is declared here", scope.declared[v].span),
            )  # fmt: skip
            scope.broken.add(draft.name.text)


def element_type(draft: Draft, typed: ir.Expr, scope: Scope) -> DType:
    """Declared, or that of the pure step, or for a literal that of the updates."""
    name, said = draft.name.text, draft.pure.type
    declared = None if said is None else type_named(said, scope)
    for u in draft.updates:
        if u.type is not None:
            scope.report(f"the type of `{name}` stands at its first definition", u.type.span,
                         "leave it out here")  # fmt: skip
    if name in scope.outputs:
        output = scope.outputs[name]
        whole = WHOLE.get(output.element, output.element)
        if declared not in (None, whole) and said is not None:
            note = Note(f"output `{name}` is {output.element}", scope.declared[name].span)
            hint = f"leave it out, or declare the output {declared}"
            scope.report(f"`{name}` is declared {declared} here", said.span, hint, note)
        return whole
    if declared is not None:
        return declared
    if is_broken(typed) or not is_literal(typed):
        return element(typed)
    types = update_types(draft, scope)
    total: DType | None = None
    if UNKNOWN in types:
        return UNKNOWN
    for t in types:
        joined = t if total is None else widen(total, t)
        if joined is None and total is not None:
            scope.report(
                f"the updates of `{name}` give {total} and {t}", draft.name.span,
                f"cast them to one type, such as {suggestion(total, t)}",
            )  # fmt: skip
            return UNKNOWN
        total = joined
    if total is not None and total.is_int and element(typed) is LITERAL_FLOAT:
        scope.report(
            f"`{text(draft.pure.value)}` is a float, and the updates of `{name}` give {total}",
            draft.pure.value.span, f"write an integer, or declare `{name}: f32[...]`",
        )  # fmt: skip
        return UNKNOWN
    return total or default_type(element(typed))


def update_types(draft: Draft, scope: Scope) -> list[DType]:
    """What the updates store, where the Func itself counts as a literal. Reports nothing: the
    updates are checked again once the type is known."""
    name = draft.name.text
    rank = len(draft.pure.indices)
    scope.funcs[name] = replace(
        scope.funcs.get(name, Signature(UNKNOWN, rank)), element=LITERAL_INT
    )
    scope.quiet = True
    around: dict[str, ir.Expr] = {v: ir.Var(v) for v in (*draft.variables, *scope.reduces)}
    env = Env(scope, around, "in an update")
    typed = [value(u.value, env) for u in draft.updates]
    scope.quiet = False
    return [element(e) for e in typed if not is_literal(e)]


def report_overwritten(draft: Draft, scope: Scope, reads: Sequence[bool] | None = None) -> None:
    """A second definition that replaces the first everywhere without reading it. `reads`: whether each
    update does, where that is not of this Func alone."""
    name = draft.name.text
    previous = draft.pure
    if reads is None:
        reads = [name in names_read([u.value]) for u in draft.updates]
    for u, reading in zip(draft.updates, reads, strict=True):
        plain = tuple(i.text for i in u.indices if isinstance(i, ast.Name))
        whole = plain == draft.variables and len(plain) == len(u.indices)
        if u.op == "=" and whole and u.condition is None and not reading:
            note = Note("the previous definition", previous.span)
            scope.report(
                f"`{name}` is defined twice: this one replaces the first everywhere",
                u.name.span, "give it another name, or update it with `+=` and the like", note,
            )  # fmt: skip
        previous = u
