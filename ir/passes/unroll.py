"""Unrolled loops become their body, once per iteration."""

from __future__ import annotations

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.walk import block, contains, free_variables, map_stmt, substitute_stmt


def unroll(s: ir.Stmt) -> ir.Stmt:
    """No UNROLL loop is left."""
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.UNROLL:
        if not isinstance(s.extent, ir.Const):
            raise InternalError(f"unrolled loop `{s.var}` has no constant extent")
        body = unroll(s.body)
        if isinstance(body, ir.If) and body.otherwise is None and _is_fixed(body.condition, s.var):
            return ir.If(body.condition, _copies(s, int(s.extent.value), body.then))
        return _copies(s, int(s.extent.value), body)
    return map_stmt(s, lambda e: e, unroll)


def _copies(s: ir.For, count: int, body: ir.Stmt) -> ir.Stmt:
    return block(*(substitute_stmt(body, {s.var: add(s.start, n)}) for n in range(count)))


def _is_fixed(condition: ir.Expr, variable: str) -> bool:
    """Whether a condition is the same in every iteration: one test does for all."""
    if variable in free_variables(condition):
        return False
    return not contains(condition, ir.Load)
