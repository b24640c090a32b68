"""What a GPU's shared memory holds already is not put there again.

    fill s from a; use s; fill s from a; use s   ->   fill s from a; use s; use s

Selection packs the operands of each product by itself; products of one operand with several others
find it packed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hbc.ir.algebra.simplify import simplify_stmt
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, free_variables, map_stmt, nodes_of, statements, substitute_stmt

_LOOPS = (ir.LoopKind.SERIAL, ir.LoopKind.LANE, ir.LoopKind.THREAD)


def drop_repeated_fills(kernel: Kernel) -> Kernel:
    """The kernel without fills of shared arrays with what they hold."""
    shared = frozenset(
        n.buffer
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory is Memory.SHARED
    )
    return kernel.map_body(lambda s: _without(s, [], shared)) if shared else kernel


@record
class _Fill:
    """What a statement puts where, and what that depends on."""

    stmt: ir.Stmt
    buffer: str
    sources: frozenset[str]
    names: frozenset[str]


def _without(s: ir.Stmt, available: list[_Fill], shared: frozenset[str]) -> ir.Stmt:
    """The statement, where so much is known; that changes with what it does."""
    match s:
        case ir.Block(body=body):
            kept = []
            for c in body:
                fill = _fill(c, shared)
                if fill is not None and any(_does_as(f, fill) for f in available):
                    continue
                kept.append(_without(c, available, shared))
                if fill is not None:
                    available.append(fill)
            same = len(kept) == len(body) and all(a is b for a, b in zip(kept, body, strict=True))
            return s if same else block(*kept)
        case ir.Allocate(buffer=buffer):
            _forget(available, {buffer}, ())
        case ir.LetStmt(name=name):
            _forget(available, (), {name})
        case ir.For(var=var):
            _forget(available, _stored(s), {var})
            return map_stmt(s, _same, lambda c: _without(c, [*available], shared))
        case ir.If():
            made = map_stmt(s, _same, lambda c: _without(c, [*available], shared))
            _forget(available, _stored(s), ())
            return made
        case _:
            _forget(available, _stored(s), ())
            return s
    return map_stmt(s, _same, lambda c: _without(c, available, shared))


def _same(e: ir.Expr) -> ir.Expr:
    return e


def _stored(s: ir.Stmt) -> set[str]:
    return {n.buffer for n in statements(s) if isinstance(n, ir.Store)}


def _forget(available: list[_Fill], buffers: Collection[str], names: Collection[str]) -> None:
    """What changes when buffers are stored to, and names stand for something else."""
    available[:] = [
        f
        for f in available
        if f.buffer not in buffers and f.sources.isdisjoint(buffers) and f.names.isdisjoint(names)
    ]


def _fill(s: ir.Stmt, shared: Collection[str]) -> _Fill | None:
    """A nest of loops that does nothing but store to one shared array, which it does not read."""
    if not all(
        isinstance(n, ir.Store | ir.Block | ir.If | ir.LetStmt)
        or (isinstance(n, ir.For) and n.kind in _LOOPS)
        for n in statements(s)
    ):
        return None
    stored = _stored(s)
    sources = frozenset(n.buffer for n in nodes_of(s, ir.Load))
    if len(stored) != 1 or not stored.issubset(shared) or stored & sources:
        return None
    if any(isinstance(n, ir.Store) and (n.atomic or n.asynchronous) for n in statements(s)):
        return None
    return _Fill(s, stored.pop(), sources, free_variables(s))


def _does_as(a: _Fill, b: _Fill) -> bool:
    """Whether one puts the same as the other, where the names of their own loops may differ."""
    if (a.buffer, a.sources, a.names) != (b.buffer, b.sources, b.names):
        return False
    return simplify_stmt(_numbered(a.stmt, 0)) == simplify_stmt(_numbered(b.stmt, 0))


def _numbered(s: ir.Stmt, depth: int) -> ir.Stmt:
    """With names for its loops that say how deep they are."""
    if isinstance(s, ir.For):
        name = f"#{depth}"
        body = _numbered(substitute_stmt(s.body, {s.var: ir.Var(name)}), depth + 1)
        return replace(s, var=name, body=body)
    return map_stmt(s, _same, lambda c: _numbered(c, depth))
