"""Barriers that are there already: fewer where branches begin alike, and of warps where these do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hbc.ir.launches import THREADS
from hbc.ir.nodes import Barrier, BarrierScope, Block, For, If, Stmt
from hbc.ir.walk import block, map_stmt, statements


def barrier_count(s: Stmt) -> int:
    """How many barriers stand in the statement."""
    return sum(isinstance(x, Barrier) for x in statements(s))


def common_first(s: If) -> Stmt:
    """With the barrier that both branches begin with before them."""
    if s.otherwise is None:
        return s
    (first, then), (second, other) = _first(s.then), _first(s.otherwise)
    if not isinstance(first, Barrier) or first != second:
        return s
    return block(first, replace(s, then=then, otherwise=other))


def _first(s: Stmt) -> tuple[Stmt, Stmt]:
    """The first statement of a block, and the rest of it."""
    body = s.body if isinstance(s, Block) and s.body else (s,)
    return body[0], block(*body[1:])


def weakened(body: Stmt, complete: Callable[[Stmt], Stmt]) -> Stmt:
    """The same with barriers of warps where these do: where `complete` finds nothing to add."""
    for n in range(barrier_count(body)):
        weaker = _with_scope(body, n, BarrierScope.WARP)
        if complete(weaker) is weaker:
            body = weaker
    return body


def _with_scope(s: Stmt, number: int, scope: BarrierScope) -> Stmt:
    """The statement with another scope of one barrier."""
    count = -1

    def change(s: Stmt) -> Stmt:
        nonlocal count
        if isinstance(s, Barrier):
            count += 1
            return Barrier(scope) if count == number else s
        return s if isinstance(s, For) and s.kind in THREADS else map_stmt(s, lambda e: e, change)

    return change(s)
