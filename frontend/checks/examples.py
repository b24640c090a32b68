"""Checks example blocks: sizes with numbers, inputs with fills."""

from __future__ import annotations

from hbc.frontend.checks.types import convert, text
from hbc.frontend.checks.values import value
from hbc.frontend.program.constants import evaluate
from hbc.frontend.program.funcs import Example, Fill
from hbc.frontend.program.literals import is_broken
from hbc.frontend.program.scope import Env, Scope
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import FILLS
from hbc.frontend.text.walk import nodes
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.ground.source import Span
from hbc.ir.lang.types import BOOL, DType

FORMS = {
    "random": "`random(1)` or `random(1, -1, 1)`",
    "file": '`file("photo.png")`',
    "ramp": "`ramp()`",
    "constant": "`constant(0)`",
}


def examples(file: ast.File, scope: Scope) -> tuple[Example, ...]:
    """All examples; the first without a name is called `default`."""
    by_name: dict[str, Example] = {}
    for s in file.statements:
        if not isinstance(s, ast.Example):
            continue
        name = s.name.text if s.name else "default"
        if name in by_name:
            scope.report(f"example `{name}` exists already", s.name.span if s.name else s.span,
                         "give it a name: `example large { ... }`")  # fmt: skip
        by_name.setdefault(name, example(name, s, scope))
    return tuple(by_name.values())


def example(name: str, s: ast.Example, scope: Scope) -> Example:
    sizes: dict[str, int] = {}
    fills: dict[str, Fill] = {}
    seen: dict[str, Span] = {}
    for item in s.settings:
        what = item.name.text
        if what in seen:
            note = Note("the first time", seen[what])
            scope.report(f"`{what}` is set twice", item.span, None, note)
            continue
        seen[what] = item.name.span
        if what in scope.sizes:
            number = size(item, scope)
            if number is not None:
                sizes[what] = number
        elif what in scope.inputs:
            made = fill(item, scope)
            if made is not None:
                fills[what] = made
        elif what in scope.declared and (what in scope.params or what in scope.types):
            scope.report(f"`{what}` is not set by examples", item.span, f"use --set {what}=...")
        else:
            scope.unknown("size or input", what, item.name.span, [*scope.sizes, *scope.inputs])
    complete(name, s, seen, fills, sizes, scope)
    return Example(name, tuple(sizes.items()), tuple(fills.items()))


def complete(
    name: str, s: ast.Example, seen: dict[str, Span], fills: dict[str, Fill],
    sizes: dict[str, int], scope: Scope,
) -> None:  # fmt: skip
    """Sizes may be left to the files that inputs come from; requirements must hold."""
    from_files = any(f.kind == "file" for f in fills.values())
    missing = [f"`{n}`" for n in scope.sizes if n not in seen]
    if missing and not from_files:
        scope.report(f"this example does not say {' and '.join(missing)}", s.span,
                     f"write `{missing[0][1:-1]} = 64`")  # fmt: skip
        return
    for r in scope.requirements:
        if evaluate(r.condition, sizes) is False:
            notes = [] if r.span is None else [Note("required here", r.span)]
            scope.report(f"these sizes contradict a requirement: {r.message}", s.span, None,
                         *notes)  # fmt: skip


def size(item: ast.Setting, scope: Scope) -> int | None:
    written = f"write a whole number of at least 1, such as `{item.name.text} = 64`"
    if any(isinstance(n, ast.Name) and n.text not in scope.params for n in nodes(item.value)):
        scope.report(f"`{text(item.value)}` is no number", item.value.span, written)
        return None
    typed = value(item.value, Env(scope, place="in an example"))
    if is_broken(typed):
        return None
    number = evaluate(typed)
    if not isinstance(number, int) or isinstance(number, bool):
        scope.report(f"`{text(item.value)}` is no whole number", item.value.span, written)
        return None
    if number < 1:
        scope.report(f"size `{item.name.text}` is {number}", item.value.span, "it is at least 1")
        return None
    return int(number)


def fill(item: ast.Setting, scope: Scope) -> Fill | None:
    """How an input is filled; a scalar, with a number."""
    e, name = item.value, item.name.text
    if scope.inputs[name].is_scalar and not (isinstance(e, ast.Call) and e.name.text in FILLS):
        value = number_of(e, scope.inputs[name].element, scope)
        return None if value is None else Fill("constant", (value,), e.span)
    if not isinstance(e, ast.Call) or e.name.text not in FILLS:
        hint = did_you_mean(e.name.text, FILLS) if isinstance(e, ast.Call) else None
        known = scope.inputs[name].element
        if isinstance(e, ast.Number | ast.Unary) and known != BOOL:
            hint = f"write `constant({text(e)})`"
        forms = f"write one of {', '.join(FORMS.values())}"
        scope.report(f"`{text(e)}` does not fill `{name}`", e.span, hint or forms)
        return None
    kind = e.name.text
    args = [argument(a, scope) for a in e.args]
    if None in args:
        return None
    given = tuple(a for a in args if a is not None)
    if not fits(kind, given):
        scope.report(f"`{text(e)}` does not fill `{name}`", e.span, f"write {FORMS[kind]}")
        return None
    if kind == "random" and len(given) == 3 and not number(given[1]) <= number(given[2]):
        scope.report("the range of `random` is empty", e.span, "write the least value first")
        return None
    return Fill(kind, given, e.span)


def number_of(e: ast.Expr, to: DType, scope: Scope) -> int | float | None:
    """The value of a scalar; None after a report."""
    typed = convert(value(e, Env(scope, place="in an example")), e, to, "this scalar", scope)
    if is_broken(typed):
        return None
    number = evaluate(typed)
    if number is None:
        scope.report(f"`{text(e)}` is no number", e.span)
    return number


def number(a: int | float | str) -> float:
    return 0.0 if isinstance(a, str) else a


def fits(kind: str, args: tuple[int | float | str, ...]) -> bool:
    numbers = [a for a in args if not isinstance(a, str)]
    match kind:
        case "file":
            return len(args) == 1 and not numbers
        case "ramp":
            return not args
        case "constant":
            return len(args) == len(numbers) == 1
        case _:
            seed = len(args) in (1, 3) and isinstance(args[0], int) and args[0] >= 0
            return seed and len(args) == len(numbers)


def argument(e: ast.Expr, scope: Scope) -> int | float | str | None:
    """A number or text; None after a report."""
    if isinstance(e, ast.Text):
        return e.value
    typed = value(e, Env(scope, place="in an example"))
    if is_broken(typed):
        return None
    constant = evaluate(typed)
    if constant is None:
        scope.report(f"`{text(e)}` is no number", e.span)
        return None
    return int(constant) if typed.type == BOOL(1) else constant
