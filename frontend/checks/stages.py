"""Checks the stages that lines of schedules speak of: `f`, `f.update(1)`, `A.in(f)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.directives.cache_write import CACHE_WRITE, cached_func, copy_of
from hbc.frontend.program.funcs import Func, Stage
from hbc.frontend.program.scope import Scope
from hbc.frontend.text import ast
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

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


def with_made(s: ast.Schedule, funcs: Mapping[str, Func]) -> dict[str, Func]:
    """The Funcs, and those that directives make: `f_u` of `f.update.rfactor(r, u)`, and `f_acc` of
    `f.cache_write(acc)`, which has the updates that `f` had."""
    made = dict(funcs)
    for w in s.lines or ():
        whole = next((f for f in made.values() if w.name.text in [p.name for p in f.parts]), None)
        if whole is None:
            continue
        for step in w.steps:
            args = [a.text if isinstance(a, ast.Name) else "" for a in step.args or ()]
            if step.name.text == CACHE_WRITE and len(args) == 1 and not stage_steps(w):
                cached = cached_func(whole, args[0])
                made |= {cached.name: cached, whole.name: copy_of(whole, cached)}
            elif step.name.text == "rfactor" and len(args) == 2:
                name = f"{whole.name}_{args[1]}"
                made[name] = replace(
                    whole, name=name, variables=(*whole.variables, args[1]),
                    updates=whole.updates[:1],
                    others=tuple(replace(p, name=f"{p.name}_{args[1]}") for p in whole.others),
                )  # fmt: skip
    return made


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
        if count == 0 and isinstance(func.pure, ir.Access) and func.pure.name in block.funcs:
            source = func.pure.name
            if source.startswith(f"{name}_") and block.funcs[source].updates:
                hint = f"`{CACHE_WRITE}` gave them to `{source}`: write `{source}.update`"
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
