"""The stores of a step of several values: each value is what it was before any of them was stored.

    (a[x], b[x]) = (b[x], a[x] + b[x])
->  let a_new = b[x] in { b[x] = a[x] + b[x]; a[x] = a_new }

A value that reads none of the others' arrays needs no name, nor do those that can be stored in an order in
which none reads what another has stored: an argmax stores where before it stores what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbc.frontend.plans.plan import StagePlan, stage_text
from hbc.frontend.regions.program import Scope
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import block, reads


def together(stores: Sequence[ir.Store], scope: Scope) -> ir.Stmt:
    """The stores, as if all were done at once."""
    if len(stores) == 1:
        return stores[0]
    done: list[ir.Stmt] = []
    names: dict[ir.Expr, str] = {}
    left = list(stores)

    def named(value: ir.Expr, name: str) -> ir.Expr:
        nonlocal scope
        if value not in names:
            names[value] = scope.fresh(name)
            scope = scope.named(names[value])
        return ir.Var(names[value], value.type)

    def changes(s: ir.Store, e: ir.Expr) -> bool:
        """Whether the store may change the value."""
        storage = scope.storages.get(s.buffer)
        return reads(e, s.buffer) or (
            storage is not None and bool(storage.over) and reads(e, storage.over)
        )

    def read_by_others(s: ir.Store) -> bool:
        others = (other for other in left if other is not s)
        return any(changes(s, other.value) or changes(s, other.index) for other in others)

    while left:
        free = next((s for s in left if not read_by_others(s)), None)
        if (
            free is None
        ):  # it is read, whichever comes first: what the others are is computed before
            free = left[0]
            for at, s in enumerate(left):
                if s is not free and changes(free, s.value):
                    s = replace(s, value=named(s.value, f"{s.buffer}_new"))
                if s is not free and changes(free, s.index):
                    s = replace(s, index=named(s.index, f"{s.buffer}_at"))
                left[at] = s
        left.remove(free)
        done.append(free)
    body = block(*done)
    for value, name in reversed(names.items()):
        body = ir.LetStmt(name, value, body)
    return body


def traced(stage: StagePlan, stores: Sequence[ir.Store], place: Sequence[ir.Expr]) -> list[ir.Stmt]:
    """What says to a trace where the step has stored what, each array for itself."""
    said: list[ir.Stmt] = []
    for s in stores:
        at, value = trace_buffers(stage_text(stage), s.buffer)
        said += [ir.Store(at, ir.const_index(d), e) for d, e in enumerate(place)]
        said.append(ir.Store(value, ir.const_index(0), ir.Load(s.buffer, s.index, s.value.type)))
    return said


def trace_buffers(step: str, buffer: str) -> tuple[str, str]:
    """The coordinates in turn are stored to the first, then the value to the second, which are no names of
    programs."""
    return f"trace {step}, {buffer}: at", f"trace {step}, {buffer}"
