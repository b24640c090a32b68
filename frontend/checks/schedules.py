"""Checks schedule blocks: targets, stages, directives and the kinds of their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hbc.frontend.checks.declarations import is_affine
from hbc.frontend.checks.foreign_names import FOREIGN_DIRECTIVES
from hbc.frontend.checks.lanes import check_lanes
from hbc.frontend.checks.stages import Block, stage_of, stage_steps, with_made
from hbc.frontend.checks.types import text
from hbc.frontend.checks.values import condition, index
from hbc.frontend.directives.table import DIRECTIVES, Row
from hbc.frontend.program.constants import evaluate
from hbc.frontend.program.funcs import Directive, Func, Schedule, ScheduleLine, Stage
from hbc.frontend.program.literals import is_broken
from hbc.frontend.program.scope import Env, Scope
from hbc.frontend.program.vocabulary import CACHES, MEMORIES, PARTS, TAILS, Kind
from hbc.frontend.text import ast
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import contains

LARGEST_FACTOR = 1 << 30  # sums of such factors stay far from what 64 bits hold


def schedules(file: ast.File, funcs: Mapping[str, Func], scope: Scope) -> tuple[Schedule, ...]:
    """All blocks, in the order of the file."""
    by_name: dict[str, Schedule] = {}
    variables = [
        i.text
        for s in file.statements
        if isinstance(s, ast.Definition)
        for i in s.indices
        if isinstance(i, ast.Name)
    ]
    for s in file.statements:
        if isinstance(s, ast.Schedule):
            checked = schedule(s, funcs, variables, scope)
            previous = by_name.get(s.name.text)
            if previous is not None and previous.span is not None:
                note = Note("the previous one", previous.span)
                scope.report(f"schedule `{s.name.text}` exists already", s.name.span,
                             "choose another name", note)  # fmt: skip
            by_name.setdefault(s.name.text, checked)
    refuse_repeats(by_name.values(), scope)
    return tuple(by_name.values())


def refuse_repeats(found: Iterable[Schedule], scope: Scope) -> None:
    """Of two with one condition for one target the second is never taken."""
    first: dict[tuple[str, ir.Expr], Schedule] = {}
    for s in found:
        for t in s.targets if s.condition is not None else ():
            assert s.condition is not None
            other = first.setdefault((t, s.condition), s)
            if other is not s and s.condition.span is not None and other.condition is not None:
                earlier = other.condition.span
                notes = () if earlier is None else (Note(f"that of `{other.name}`", earlier),)
                scope.report(
                    f"`{s.name}` is never taken for `{t}`: `{other.name}` has the same condition",
                    s.condition.span,
                    "take one of them out, or give it another condition; `--schedule NAME` takes one by its "
                    "name, whatever others there are",
                    *notes,
                )  # fmt: skip
                break


def sizes_of(s: ast.Schedule, scope: Scope) -> ir.Expr | None:
    """The condition of a schedule; None without one, or after a report."""
    if s.condition is None:
        return None
    test = condition(s.condition, Env(scope, place="in the condition of a schedule"))
    if is_broken(test):
        return None
    if contains(test, ir.Access):
        scope.report(
            f"a schedule is taken by sizes, and `{text(s.condition)}` reads data", s.condition.span,
            "compare sizes and parameters: `where N >= 512 and C % 64 == 0`",
        )  # fmt: skip
        return None
    return replace(test, span=s.condition.span)


def schedule(
    s: ast.Schedule, funcs: Mapping[str, Func], variables: list[str], scope: Scope
) -> Schedule:
    if s.lines is None or s.name.text == "auto":
        if s.name.text == "auto":
            hint = (
                "leave it out; `hbc compile FILE --schedule auto --write` writes one down, to edit"
            )
            scope.report(
                "`auto` is the schedule that hbc makes, and stands in no file", s.span, hint
            )
        else:
            hint = "write `schedule NAME for avx512 { ... }`; without one, hbc makes a schedule"
            scope.report(f"schedule `{s.name.text}` has no lines", s.span, hint)
    elif not s.targets:
        hint = f"write `schedule {s.name.text} for avx512, avx2 {{ ... }}`"
        scope.report(f"schedule `{s.name.text}` names no target", s.name.span, hint)
    targets = tuple(t.text for t in s.targets)
    for at, t in enumerate(s.targets):
        if t.text not in TARGETS:
            hint = did_you_mean(t.text, TARGETS) or f"the targets are {', '.join(TARGETS)}"
            scope.report(f"unknown target `{t.text}`", t.span, hint)
        elif t.text in targets[:at]:
            scope.report(f"target `{t.text}` is named twice", t.span, "leave one out")
    stages = with_made(s, funcs)
    loops = tuple(with_new_loops(s, [*variables, *scope.reduces]))
    block = Block(scope, stages, loops)
    lines = tuple(x for w in s.lines or () if (x := line(w, block)) is not None)
    if not any(t in TARGETS and TARGETS[t].instruction_sets for t in targets):
        check_lanes(lines, stages, scope)  # elsewhere an instruction may do long vectors
    return Schedule(s.name.text, targets, lines, s.name.span, sizes_of(s, scope))


def with_new_loops(s: ast.Schedule, loops: list[str]) -> list[str]:
    """The loops, and those that directives of the block make: under the names that they give, or those
    of their suffixes, if they split a loop that there is. (Of a slip the loop would be named in hints.)"""
    names = dict.fromkeys(loops)
    for w in s.lines or ():
        for step in w.steps:
            form = DIRECTIVES.get(step.name.text)
            if form is None:
                continue
            args = step.args or ()
            loop = args[0] if args else None
            if len(args) > 1 and form.suffix and isinstance(loop, ast.Name):
                names |= {loop.text + form.suffix: None} if loop.text in names else {}
            for kind, a in zip(form.kinds[-1], args, strict=False):
                if kind is Kind.NEW and isinstance(a, ast.Name):
                    names[a.text] = None
    return list(names)


def line(w: ast.Line, block: Block) -> ScheduleLine | None:
    """One chain: its stage, then its directives."""
    split = stage_steps(w)
    stage = stage_of(ast.Line(w.name, w.steps[:split], w.span), block)
    if split == len(w.steps):
        block.scope.report("this line has no directive", w.span, "write `C.vectorize(j, 16)`")
    directives = [directive(step, stage, block) for step in w.steps[split:]]
    if stage is None:
        return None
    return ScheduleLine(stage, tuple(d for d in directives if d is not None), w.span)


def directive(step: ast.Step, stage: Stage | None, block: Block) -> Directive | None:
    """One call, with its arguments read as the kinds that it takes; None after a report."""
    scope, name = block.scope, step.name.text
    form = DIRECTIVES.get(name)
    if form is None:
        hint = FOREIGN_DIRECTIVES.get(name) or did_you_mean(name, DIRECTIVES)
        if name in ("update", "in"):
            hint = f"`{name}` belongs to the stage and stands first in the line"
        scope.report(f"unknown directive `{name}`", step.name.span, hint)
        return None
    args = step.args or ()
    plain = [a for a in args if not isinstance(a, ast.Option)]
    kinds = kinds_for(form, len(plain))
    if kinds is None:
        scope.report(f"`{name}` does not take {counted(len(plain), 'argument')}", step.span,
                     f"write {forms_of(form)}")  # fmt: skip
        return None
    read: list[str | int | Stage | ir.Expr | None] = []
    around = stage
    for a, kind in zip(plain, kinds, strict=True):
        value = argument(a, kind, form, around, block)
        if isinstance(value, Stage):
            around = value  # a loop that is named behind a stage is one of it
        read.append(value)
    options = [option(a, form, step, block) for a in args if isinstance(a, ast.Option)]
    if form.tail and options and Kind.FACTOR not in kinds:
        scope.report(f"`{name}` splits nothing here and has no tail", step.span,
                     f"write {forms_of(form)}")  # fmt: skip
    if None in read or None in options:
        return None
    return Directive(
        name, tuple(a for a in read if a is not None),
        tuple(o for o in options if o is not None), step.span,
    )  # fmt: skip


def forms_of(form: Row) -> str:
    """How a directive is written: each of its forms in backquotes."""
    return " or ".join(f"`{f}`" for f in form.written.split(" or "))


def kinds_for(form: Row, count: int) -> tuple[Kind, ...] | None:
    for kinds in form.kinds:
        if len(kinds) == count:
            return kinds
    longest = form.kinds[-1]
    if form.repeats and count > len(longest):
        return longest + longest[-1:] * (count - len(longest))
    return None


def argument(
    a: ast.Expr | ast.Line, kind: Kind, form: Row, stage: Stage | None, block: Block
) -> str | int | Stage | ir.Expr | None:
    """One argument as the kind that its place takes; None after a report."""
    scope = block.scope
    if kind is Kind.STAGE:
        if isinstance(a, ast.Name):
            a = ast.Line(ast.Ident(a.text, a.span), (), a.span)
        if isinstance(a, ast.Line):
            return stage_of(a, block)
    elif isinstance(a, ast.Line):
        pass
    elif kind is Kind.CONDITION:
        test = condition(a, Env(scope, place="in a schedule"))
        if contains(test, ir.Access):
            size = "N" if "N" in scope.sizes else next(iter(scope.sizes), "N")
            hint = f"write `{form.written.replace('(N ', f'({size} ')}`"
            scope.report(f"expected {kind}, found `{text(a)}`", a.span, hint)
            return None
        return None if is_broken(test) else test
    elif kind in (Kind.FACTOR, Kind.COUNT):
        return number(a, kind, form, block)
    elif kind in (Kind.INDEX, Kind.EXTENT):
        return position(a, kind, form, block)
    elif isinstance(a, ast.Name):
        return named(a, kind, stage, block)
    shown = a.span.text if isinstance(a, ast.Line) else text(a)
    scope.report(f"expected {kind}, found `{shown}`", a.span, f"write {forms_of(form)}")
    return None


def named(a: ast.Name, kind: Kind, stage: Stage | None, block: Block) -> str | None:
    scope = block.scope
    if kind is Kind.MEMORY and a.text not in MEMORIES:
        hint = did_you_mean(a.text, MEMORIES) or f"there are {', '.join(MEMORIES)}"
        scope.report(f"unknown memory `{a.text}`", a.span, hint)
        return None
    if kind is Kind.CACHE and a.text not in CACHES:
        scope.report(f"unknown cache `{a.text}`", a.span, f"there are {', '.join(CACHES)}")
        return None
    if kind is Kind.PARTS and a.text not in PARTS:
        hint = did_you_mean(a.text, PARTS) or f"there are {', '.join(PARTS)}"
        scope.report(f"unknown word `{a.text}`", a.span, hint)
        return None
    if kind is Kind.ARRAY and a.text not in scope.inputs and a.text not in scope.funcs:
        scope.unknown("Func or input", a.text, a.span, [*scope.inputs, *scope.funcs])
        return None
    if kind is Kind.LOOP and a.text not in block.loops:
        scope.report(f"unknown loop `{a.text}`", a.span, loop_hint(a.text, stage, block))
        return None
    if kind is Kind.NEW and (a.text in scope.sizes or a.text in scope.params):
        what = scope.declared[a.text].what
        scope.report(f"`{a.text}` is {what} and cannot name a loop", a.span, "choose another name")
        return None
    return a.text


def loop_hint(name: str, stage: Stage | None, block: Block) -> str | None:
    close = did_you_mean(name, block.loops)
    if close is None and stage is not None and stage.name in block.funcs:
        own = ", ".join(f"`{v}`" for v in block.funcs[stage.name].variables)
        return f"`{stage.name}` has the variables {own}"
    if close is None and block.loops:
        return f"here there are {', '.join(f'`{x}`' for x in sorted(block.loops))}"
    return close


def number(a: ast.Expr, kind: Kind, form: Row, block: Block) -> int | None:
    """A factor: a number, or an expression of integer params."""
    scope = block.scope
    typed = index(a, Env(scope, place="in a schedule"))
    if is_broken(typed):
        return None
    constant = evaluate(typed)
    if constant is None:
        scope.report(f"`{text(a)}` is not known at compile time", a.span,
                     "use a number or an integer param")  # fmt: skip
        return None
    least = {Kind.FACTOR: 1, Kind.COUNT: 0}.get(kind)
    if least is not None and constant < least:
        scope.report(f"expected {kind}, found {constant}", a.span, f"write {forms_of(form)}")
        return None
    if constant > LARGEST_FACTOR:
        scope.report(f"{constant} is no factor: {LARGEST_FACTOR} is the largest", a.span)
        return None
    return int(constant)


def position(a: ast.Expr, kind: Kind, form: Row, block: Block) -> int | ir.Expr | None:
    """A number, or an expression of the sizes."""
    scope = block.scope
    typed = index(a, Env(scope, place="in a schedule"))
    if is_broken(typed):
        return None
    linear_form = linear(typed)
    if not is_affine(linear_form):
        scope.report(f"`{text(a)}` is not affine in the sizes", a.span, f"write {forms_of(form)}")
        return None
    if not linear_form.is_constant:
        return to_expr(linear_form)
    if kind is Kind.EXTENT and linear_form.constant < 1:
        scope.report(
            f"expected {kind}, found {linear_form.constant}", a.span, f"write {forms_of(form)}"
        )
        return None
    return linear_form.constant


def option(a: ast.Option, form: Row, step: ast.Step, block: Block) -> tuple[str, str | int] | None:
    scope, name = block.scope, step.name.text
    if a.name.text != "tail" or not form.tail:
        takes = "only takes `tail`" if form.tail else "takes no options"
        hint = "" if form.tail else "leave it out: `tail` says how a `split` or `tile` ends"
        scope.report(
            f"`{name}` {takes}, not `{a.name.text}`", a.span, hint or "such as `tail = guard`"
        )
        return None
    if not isinstance(a.value, ast.Name) or a.value.text not in TAILS:
        written = text(a.value)
        hint = did_you_mean(written, TAILS) or f"there are {', '.join(TAILS)}"
        scope.report(f"unknown tail `{written}`", a.value.span, hint)
        return None
    return "tail", a.value.text
