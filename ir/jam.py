"""Neighbouring loops of selected products, or of copies that pack operands, become one loop.

    for r in 16: acc[0..15] = instruct(acc[0..15], ..r..)
    for r in 16: acc[16..31] = instruct(acc[16..31], ..r..)
->  for r in 16: { acc[0..15] = ..; acc[16..31] = .. }

One accumulator after the other would wait for its own last product every time, and load again what the
others have loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    Stmt,
    Store,
    Var,
)
from hbc.ir.walk import block, map_stmt, nodes, substitute_stmt

Lanes = frozenset[int] | None
"""The places in a buffer, None when they are not constant."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """The places that a statement reads and writes, by buffer."""

    read: Mapping[str, Lanes]
    written: Mapping[str, Lanes]


@dataclass(frozen=True, slots=True)
class _Item:
    """A statement of a block; `touched` None: not to be moved, nor anything past it."""

    stmt: Stmt
    touched: _Touched | None


def jam(s: Stmt) -> Stmt:
    """Every run of such loops as one, from the outermost in."""
    if isinstance(s, Block):
        items: list[_Item] = []
        for child in s.body:
            _place(child, items)
        if len(items) < len(s.body):
            s = block(*(i.stmt for i in items))
    return map_stmt(s, lambda e: e, jam)


def _place(s: Stmt, before: list[_Item]) -> None:
    """Puts a statement after the others, or joins it with a loop that it may be moved up to."""
    item = _Item(s, _touched(s) if _is_straight(s) else None)
    if isinstance(s, For) and item.touched is not None:
        for n in range(len(before) - 1, -1, -1):
            other = before[n]
            if other.touched is None or _conflict(other.touched, item.touched):
                break
            if isinstance(other.stmt, For) and (both := _together(other.stmt, s)) is not None:
                before[n] = _Item(both, _all(other.touched, item.touched))
                return
    before.append(item)


def _together(a: For, b: For) -> Stmt | None:
    """Two loops as one, when they have the same iterations."""
    if (a.start, a.extent, a.kind, a.stages) != (b.start, b.extent, LoopKind.SERIAL, b.stages):
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


def _touched(s: Stmt) -> _Touched:
    read: dict[str, Lanes] = {}
    written: dict[str, Lanes] = {}
    for n in nodes(s):
        if isinstance(n, Load | Store):
            into = written if isinstance(n, Store) else read
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
