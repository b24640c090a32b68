"""How long the interpreter takes for a kernel: the statements that it executes, a vector at a time."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.frontend.program.constants import index_value
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import CONDITION, INDEX
from hbc.ir.lang.walk import children


def statements_run(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    """About how many statements are executed at these sizes. Loops count as in their first iteration,
    conditions that are not known as if they held."""
    return _run(kernel.body, dict(sizes))


def _run(s: ir.Stmt, known: Mapping[str, int]) -> int:
    match s:
        case ir.For(var=var, start=start, extent=extent, body=body):
            first, count = _value(start, known), _value(extent, known)
            inside = {**known, var: first or 0}
            return max(1 if count is None else count, 0) * _run(body, inside)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            parts = [_run(x, known) for x in (then, otherwise) if x is not None]
            holds = _value(condition, known)
            if holds is None:
                return max(parts)
            return parts[0] if holds else sum(parts[1:])
        case ir.LetStmt(name=name, value=value, body=body):
            result = _value(value, known)
            return _run(body, known if result is None else {**known, name: result})
        case ir.Block(body=body):
            return sum(_run(c, known) for c in body)
        case _:
            inner = [c for c in children(s) if isinstance(c, ir.Stmt)]
            return sum(_run(c, known) for c in inner) if inner else 1


def _value(e: ir.Expr, known: Mapping[str, int]) -> int | None:
    """The value of an index or condition; None where that depends on more than is known."""
    return index_value(e, known) if e.type in (INDEX, CONDITION) else None
