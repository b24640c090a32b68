"""Checks the stages that lines of schedules speak of: `f`, `f.update(1)`, `A.in(f)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.program.funcs import Func, Stage
from hbc.frontend.program.scope import Scope
from hbc.frontend.text import ast
from hbc.ir.ground.record import record

Argument = ast.Expr | ast.Line | ast.Option


@record
class Block:
    """What the checks of one block need: the names, the Funcs, and the loops that its lines make. Of a Func
    of several values every name stands for all."""

    scope: Scope
    funcs: Mapping[str, Func]
    loops: tuple[str, ...]

    def func_name(self, name: str) -> str:
        """Of the Func that a name in a schedule means."""
        whole = (f.name for f in self.funcs.values() if any(p.name == name for p in f.others))
        return name if name in self.funcs else next(whole, name)


def factored(s: ast.Schedule, funcs: Mapping[str, Func]) -> dict[str, Func]:
    """The Funcs of partial results that `rfactor` makes: `f_u` of `f.update.rfactor(r, u)`."""
    partial: dict[str, Func] = {}
    for w in s.lines or ():
        named = [
            f
            for f in (*funcs.values(), *partial.values())
            if w.name.text in [p.name for p in f.parts]
        ]
        whole = named[0] if named else None
        for step in w.steps:
            args = step.args or ()
            if whole is not None and step.name.text == "rfactor" and len(args) == 2:
                variable = args[1].text if isinstance(args[1], ast.Name) else ""
                name = f"{whole.name}_{variable}"
                partial[name] = replace(
                    whole, name=name, variables=(*whole.variables, variable),
                    updates=whole.updates[:1],
                    others=tuple(replace(p, name=f"{p.name}_{variable}") for p in whole.others),
                )  # fmt: skip
    return partial


def stage_steps(w: ast.Line) -> int:
    """How many of the first steps name the stage."""
    count = 0
    for step in w.steps:
        if step.name.text not in ("update", "in"):
            break
        count += 1
    return count


def stage_of(w: ast.Line, block: Block) -> Stage | None:
    """`f`, `f.update`, `f.update(1)`, `A.in(f)`; None after a report."""
    scope, name = block.scope, w.name.text
    span = w.name.span
    if not (w.steps and w.steps[0].name.text == "in"):
        name = block.func_name(name)
    if not w.steps:
        if name in scope.inputs:
            scope.report(
                f"`{name}` is an input and has no loops", span,
                "leave the line out: it is one number" if scope.inputs[name].is_scalar else
                f"schedule a copy of it: `{name}.in(f).compute_at(...)`",
            )  # fmt: skip
            return None
        return Stage(name, span=span) if known_func(name, w, block) else None
    step = w.steps[0]
    if len(w.steps) > 1:
        scope.report("a stage is `f`, `f.update`, `f.update(1)` or `A.in(f)`", w.span)
        return None
    if step.name.text == "in":
        return wrapper(w, step, block)
    if not known_func(name, w, block):
        return None
    number = 0
    if step.args is not None:
        number = factor(step.args, step, block)
    func = block.funcs.get(name)
    if func is not None and not 0 <= number < len(func.updates):
        count = len(func.updates)
        has = "no update" if count == 0 else "one update" if count == 1 else f"{count} updates"
        hint = f"they are numbered from 0 to {count - 1}" if count > 1 else None
        hint = f"write `{name}.update`" if count == 1 else hint
        scope.report(f"`{name}` has {has}, and no `update({number})`", step.span, hint)
        return None
    return Stage(name, number, span=span)


def factor(args: tuple[Argument, ...], step: ast.Step, block: Block) -> int:
    """The number of an update."""
    if len(args) == 1 and isinstance(args[0], ast.Number) and isinstance(args[0].value, int):
        return args[0].value
    block.scope.report("`update` takes the number of the update", step.span, "write `update(0)`")
    return 0


def wrapper(w: ast.Line, step: ast.Step, block: Block) -> Stage | None:
    scope, name = block.scope, w.name.text
    if name not in scope.inputs and not known_func(block.func_name(name), w, block):
        return None
    args = step.args or ()
    if len(args) != 1 or not isinstance(args[0], ast.Name):
        reader = "g" if name == "f" else "f"
        hint = f"write `{name}.in({reader})` for the `{name}` that a Func `{reader}` reads"
        scope.report("`in` takes the Func that reads the copy", step.span, hint)
        return None
    consumer = ast.Line(ast.Ident(args[0].text, args[0].span), (), args[0].span)
    reader = block.func_name(consumer.name.text)
    if not known_func(reader, consumer, block):
        return None
    return Stage(name, None, reader, w.name.span)


def known_func(name: str, w: ast.Line, block: Block) -> bool:
    scope = block.scope
    if name in block.funcs:
        if block.funcs[name].table_shape is not None:
            scope.report(f"`{name}` is a table and has no loops", w.name.span,
                         "leave the line out: its cells are constants")  # fmt: skip
            return False
        return True
    partial = any(name.startswith(f"{n}_") for n in scope.broken)
    if partial or name in scope.broken or name in scope.funcs:
        return False
    known = [p.name for f in block.funcs.values() if f.table_shape is None for p in f.parts]
    scope.unknown("Func", name, w.name.span, [*known, *scope.inputs] if w.steps else known)
    return False
