"""Neighbouring loops of selected products, or of copies that pack operands, become one loop.

    for r in 16: acc[0..15] = instruct(acc[0..15], ..r..)
    for r in 16: acc[16..31] = instruct(acc[16..31], ..r..)
->  for r in 16: { acc[0..15] = ..; acc[16..31] = .. }

One accumulator after the other would wait for its own last product every time, and load again what the
others have loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.lane_offsets import constant_lanes
from hbc.ir.nodes import (
    Block,
    Comment,
    For,
    Instruct,
    Let,
    LetStmt,
    Load,
    LoopKind,
    Node,
    Prefetch,
    Stmt,
    Store,
    Var,
)
from hbc.ir.walk import block, map_stmt, nodes, substitute_stmt

Access = Load | Store | Prefetch


def jam(s: Stmt) -> Stmt:
    """Every run of such loops as one, from the outermost in."""
    if isinstance(s, Block):
        merged: list[Stmt] = []
        for child in s.body:
            _place(child, merged)
        if len(merged) < len(s.body):
            s = block(*merged)
    return map_stmt(s, lambda e: e, jam)


def _place(s: Stmt, before: list[Stmt]) -> None:
    """Puts a statement after the others, or joins it with a loop that it may be moved up to."""
    if isinstance(s, For) and _is_straight(s.body):
        for n in range(len(before) - 1, -1, -1):
            both = _together(before[n], s)
            if both is not None:
                before[n] = both
                return
            if not _is_straight(before[n]) or _conflict(before[n], s):
                break
    before.append(s)


def _together(a: Stmt, b: Stmt) -> Stmt | None:
    """Two loops as one: the same iterations, and no iteration of one touches what another of the other
    writes."""
    if not (isinstance(a, For) and isinstance(b, For)):
        return None
    if (a.start, a.extent, a.kind, a.stages) != (b.start, b.extent, LoopKind.SERIAL, b.stages):
        return None
    if not (_is_straight(a.body) and _is_straight(b.body)) or _conflict(a.body, b.body):
        return None
    body = b.body
    if b.var != a.var:
        if any(_names(n) == a.var for n in nodes(body)):
            return None
        body = substitute_stmt(body, {b.var: Var(a.var)})
    return For(a.var, a.start, a.extent, a.kind, block(a.body, body), a.note, a.span, a.stages)


def _names(n: Node) -> str | None:
    """The name that a node binds or reads."""
    match n:
        case For(var=name) | Let(name=name) | LetStmt(name=name) | Var(name=name):
            return name
        case _:
            return None


def _is_straight(s: Stmt) -> bool:
    """Loops and names around products and copies, and nothing else."""
    match s:
        case Store(value=value):
            return isinstance(value, Load) or any(isinstance(n, Instruct) for n in nodes(value))
        case For(body=body, kind=LoopKind.SERIAL) | LetStmt(body=body):
            return _is_straight(body)
        case Block(body=body):
            return all(_is_straight(child) for child in body)
        case _:
            return isinstance(s, Comment)


def _conflict(a: Stmt, b: Stmt) -> bool:
    """Whether one writes a place that the other touches, as far as constant places tell."""
    left, right = list(_accesses(a)), list(_accesses(b))
    return any(
        x.buffer == y.buffer and (isinstance(x, Store) or isinstance(y, Store)) and _may_meet(x, y)
        for x in left
        for y in right
    )


def _accesses(s: Stmt) -> Iterator[Access]:
    return (n for n in nodes(s) if isinstance(n, Access))


def _may_meet(x: Access, y: Access) -> bool:
    one, other = constant_lanes(x.index), constant_lanes(y.index)
    return one is None or other is None or not set(one).isdisjoint(other)
