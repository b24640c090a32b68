"""Unrolled loops become their body, once per iteration."""

from __future__ import annotations

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.build import add
from hbc.ir.lang.nodes import Const, Expr, For, If, Load, LoopKind, Stmt
from hbc.ir.lang.walk import block, contains, free_variables, map_stmt, substitute_stmt


def unroll(s: Stmt) -> Stmt:
    """No UNROLL loop is left."""
    if isinstance(s, For) and s.kind is LoopKind.UNROLL:
        if not isinstance(s.extent, Const):
            raise InternalError(f"unrolled loop `{s.var}` has no constant extent")
        body = unroll(s.body)
        if isinstance(body, If) and body.otherwise is None and _is_fixed(body.condition, s.var):
            return If(body.condition, _copies(s, int(s.extent.value), body.then))
        return _copies(s, int(s.extent.value), body)
    return map_stmt(s, lambda e: e, unroll)


def _copies(s: For, count: int, body: Stmt) -> Stmt:
    return block(*(substitute_stmt(body, {s.var: add(s.start, n)}) for n in range(count)))


def _is_fixed(condition: Expr, variable: str) -> bool:
    """Whether a condition is the same in every iteration: one test does for all."""
    if variable in free_variables(condition):
        return False
    return not contains(condition, Load)
