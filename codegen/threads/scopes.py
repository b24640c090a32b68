"""Barriers that are there already: fewer where branches begin alike, and of warps where these do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.walk import block, children, map_stmt


def barrier_count(s: ir.Stmt) -> int:
    """How many barriers stand in the statement, outside of its loops over threads."""
    return sum(1 for _ in _barriers(s))


def _barriers(s: ir.Stmt) -> Iterator[ir.Barrier]:
    if isinstance(s, ir.Barrier):
        yield s
    elif not (isinstance(s, ir.For) and s.kind in THREADS):
        for c in children(s):
            if isinstance(c, ir.Stmt):
                yield from _barriers(c)


def common_first(s: ir.If) -> ir.Stmt:
    """With the barrier that both branches begin with before them."""
    if s.otherwise is None:
        return s
    (first, then), (second, other) = _first(s.then), _first(s.otherwise)
    if not isinstance(first, ir.Barrier) or first != second:
        return s
    return block(first, replace(s, then=then, otherwise=other))


def _first(s: ir.Stmt) -> tuple[ir.Stmt, ir.Stmt]:
    """The first statement of a block, and the rest of it."""
    body = s.body if isinstance(s, ir.Block) and s.body else (s,)
    return body[0], block(*body[1:])


def weakened(
    body: ir.Stmt, may: Callable[[ir.Barrier], bool], complete: Callable[[ir.Stmt], ir.Stmt]
) -> ir.Stmt:
    """The same with barriers of warps where these do: where `complete` finds nothing to add. Only
    those are tried that `may` be."""
    tried = [n for n, x in enumerate(_barriers(body)) if may(x)]
    for numbers in ([tried] if len(tried) > 1 else []) + [[n] for n in tried]:
        weaker = _with_scope(body, numbers, ir.BarrierScope.WARP)
        if complete(weaker) is weaker:
            body = weaker
            if len(numbers) == len(tried):
                break
    return body


def _with_scope(s: ir.Stmt, numbers: Collection[int], scope: ir.BarrierScope) -> ir.Stmt:
    """The statement with another scope of some of its barriers."""
    count = -1

    def change(s: ir.Stmt) -> ir.Stmt:
        nonlocal count
        if isinstance(s, ir.Barrier):
            count += 1
            return replace(s, scope=scope) if count in numbers else s
        return (
            s if isinstance(s, ir.For) and s.kind in THREADS else map_stmt(s, lambda e: e, change)
        )

    return change(s)
