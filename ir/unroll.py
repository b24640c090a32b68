"""Unrolled loops become their body, once per iteration."""

from __future__ import annotations

from hbc.ir.build import add
from hbc.ir.diag import InternalError
from hbc.ir.nodes import Const, For, LoopKind, Stmt
from hbc.ir.walk import block, map_stmt, substitute_stmt


def unroll(s: Stmt) -> Stmt:
    """No UNROLL loop is left."""
    if isinstance(s, For) and s.kind is LoopKind.UNROLL:
        if not isinstance(s.extent, Const):
            raise InternalError(f"unrolled loop `{s.var}` has no constant extent")
        body = unroll(s.body)
        copies = range(int(s.extent.value))
        return block(*(substitute_stmt(body, {s.var: add(s.start, n)}) for n in copies))
    return map_stmt(s, lambda e: e, unroll)
