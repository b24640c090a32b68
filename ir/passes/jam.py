"""Neighbouring loops of selected products, or of copies that pack operands, become one loop.

    for r in 16: acc[0..15] = instruct(acc[0..15], ..r..)
    for r in 16: acc[16..31] = instruct(acc[16..31], ..r..)
->  for r in 16: { acc[0..15] = ..; acc[16..31] = .. }

One accumulator after the other would wait for its own last product every time, and load again what the
others have loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    contains,
    free_variables,
    map_stmt,
    nodes,
    statements,
    substitute_stmt,
)
from hbc.ir.vectors.lane_offsets import constant_lanes

Lanes = frozenset[int] | None
"""The places in a buffer, None when they are not constant."""


@record
class _Touched:
    """The places that a statement reads and writes, by buffer."""

    read: Mapping[str, Lanes]
    written: Mapping[str, Lanes]


@record
class _Item:
    """A statement of a block; `touched` None: not to be moved, nor anything past it."""

    stmt: ir.Stmt
    touched: _Touched | None


def jam(s: ir.Stmt) -> ir.Stmt:
    """Every run of such loops as one, from the outermost in."""
    if isinstance(s, ir.Block):
        held, body = _opened(s)
        items: list[_Item] = []
        for child in body:
            _place(child, items)
        if len(items) < len(body):
            s = block(*(i.stmt for i in items))
            for a in reversed(held):
                s = replace(a, body=s)
    return map_stmt(s, lambda e: e, jam)


def _opened(s: ir.Block) -> tuple[list[ir.Allocate], list[ir.Stmt]]:
    """The block's statements with the scopes of its registers around all of it."""
    names = Counter(n.buffer for n in statements(s) if isinstance(n, ir.Allocate))
    held: list[ir.Allocate] = []
    body: list[ir.Stmt] = []
    for child in s.body:
        mine = child
        while (
            isinstance(mine, ir.Allocate)
            and mine.memory is Memory.REGISTER
            and names[mine.buffer] == 1
            and not free_variables(mine.extent)
        ):
            held.append(mine)
            mine = mine.body
        body += mine.body if isinstance(mine, ir.Block) else [mine]
    return held, body


def _place(s: ir.Stmt, before: list[_Item]) -> None:
    """Puts a statement after the others, or joins it with a loop that it may be moved up to, together
    with what must come before it."""
    item = _Item(s, _touched(s) if _is_movable(s) else None)
    if isinstance(s, ir.For) and item.touched is not None and _is_straight(s.body):
        needed: list[_Item] = [item]
        kept: list[_Item] = []
        for n in range(len(before) - 1, -1, -1):
            other = before[n]
            if other.touched is None:
                break
            if any(i.touched and _conflict(other.touched, i.touched) for i in needed):
                needed.insert(0, other)
                continue
            if isinstance(other.stmt, ir.For) and (both := _together(other.stmt, s)) is not None:
                joined = _Item(both, _all(other.touched, item.touched))
                before[n:] = [*needed[:-1], joined, *kept]
                return
            kept.insert(0, other)
    before.append(item)


def _together(a: ir.For, b: ir.For) -> ir.Stmt | None:
    """Two loops as one, when they have the same iterations."""
    if (a.start, a.extent, a.kind, a.marks) != (b.start, b.extent, ir.LoopKind.SERIAL, b.marks):
        return None
    if not _is_straight(a.body):
        return None
    body = b.body
    if b.var != a.var:
        if any(_names(n) == a.var for n in nodes(body)):
            return None
        body = substitute_stmt(body, {b.var: ir.Var(a.var)})
    return replace(a, body=block(a.body, body))


def _names(n: ir.Node) -> str | None:
    """The name that a node binds or reads."""
    match n:
        case ir.For(var=name) | ir.Let(name=name) | ir.LetStmt(name=name) | ir.Var(name=name):
            return name
        case _:
            return None


def _is_movable(s: ir.Stmt) -> bool:
    """Stores, and loops and names around them: all that such a statement does is to read and write."""
    match s:
        case ir.Store() | ir.Comment():
            return True
        case ir.For(body=body, kind=ir.LoopKind.SERIAL) | ir.LetStmt(body=body):
            return _is_movable(body)
        case ir.Block(body=body):
            return all(_is_movable(child) for child in body)
        case _:
            return False


def _is_straight(s: ir.Stmt) -> bool:
    """Loops and names around products and copies, and nothing else."""
    match s:
        case ir.Store(value=value):
            return isinstance(value, ir.Load) or contains(value, ir.Instruct)
        case ir.For(body=body, kind=ir.LoopKind.SERIAL) | ir.LetStmt(body=body):
            return _is_straight(body)
        case ir.Block(body=body):
            return all(_is_straight(child) for child in body)
        case _:
            return isinstance(s, ir.Comment)


def _touched(s: ir.Stmt) -> _Touched:
    read: dict[str, Lanes] = {}
    written: dict[str, Lanes] = {}
    for n in nodes(s):
        if isinstance(n, ir.Load | ir.Store):
            into = written if isinstance(n, ir.Store) else read
            lanes = constant_lanes(n.index)
            here = None if lanes is None else frozenset(lanes)
            into[n.buffer] = _both(into[n.buffer], here) if n.buffer in into else here
    return _Touched(read, written)


def _all(a: _Touched, b: _Touched) -> _Touched:
    return _Touched(_merged(a.read, b.read), _merged(a.written, b.written))


def _merged(a: Mapping[str, Lanes], b: Mapping[str, Lanes]) -> Mapping[str, Lanes]:
    shared = {name: _both(a[name], b[name]) for name in a.keys() & b.keys()}
    return {**a, **b, **shared}


def _both(a: Lanes, b: Lanes) -> Lanes:
    return None if a is None or b is None else a | b


def _conflict(a: _Touched, b: _Touched) -> bool:
    """Whether one writes a place that the other touches, as far as constant places tell."""
    return _meet(a.written, b.written) or _meet(a.written, b.read) or _meet(a.read, b.written)


def _meet(a: Mapping[str, Lanes], b: Mapping[str, Lanes]) -> bool:
    for name in a.keys() & b.keys():
        one, other = a[name], b[name]
        if one is None or other is None or not one.isdisjoint(other):
            return True
    return False
