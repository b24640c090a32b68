"""Outputs of 4 bits: two values make a byte, which is stored once, when both are known."""

from __future__ import annotations

from collections.abc import Iterable

from hbc.frontend.plans.legal import stage_expressions
from hbc.frontend.program.funcs import Func, Image
from hbc.frontend.program.scope import Scope
from hbc.ir.ground.diag import Note
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import PACKED, WHOLE
from hbc.ir.lang.walk import nodes


def packed_outputs(funcs: Iterable[Func], scope: Scope) -> None:
    """Reports those that are more than a value for each of their elements."""
    packed = {n: o for n, o in scope.outputs.items() if o.element in PACKED.values()}
    if not packed:
        return
    for f in funcs:
        own = packed.get(f.name) or next(
            (packed[p.name] for p in f.others if p.name in packed), None
        )
        if own is not None:
            _own(own, f, scope)
        for update in (None, *range(len(f.updates))):
            for e in stage_expressions(f, update):
                for n in nodes(e):
                    if (
                        isinstance(n, ir.Access)
                        and (n.part or n.name) in packed
                        and n.name != f.name
                    ):
                        _read(packed[n.part or n.name], n, scope)


def _own(o: Image, f: Func, scope: Scope) -> None:
    hint = (
        f"give it a Func of {WHOLE[o.element]}, and the output its values: `{o.name}[...] = f[...]`"
    )
    if f.updates or f.others:
        what = "one of several values" if f.others else "updated"
        scope.report(f"`{o.name}` is {o.element}, two to a byte, and is {what}", o.span, hint)
    if o.aliases:
        scope.report(
            f"`{o.name}` is {o.element}, two to a byte, and takes no input's memory", o.span,
            "leave `aliases` out",
        )  # fmt: skip
    if o.name in scope.bounds:
        scope.report(
            f"`{o.name}` is {o.element}, and has no bound", scope.bounds[o.name].span or o.span,
            "leave it out, or give the values a Func of their own",
        )  # fmt: skip


def _read(o: Image, a: ir.Access, scope: Scope) -> None:
    notes = () if o.span is None else (Note("it is declared here", o.span),)
    scope.report(
        f"`{o.name}` is {o.element}, two to a byte, and is stored alone: nothing reads it", a.span or o.span,
        f"give its values a Func of {WHOLE[o.element]}, and read that", *notes,
    )  # fmt: skip
