"""The body of a loop that is to be pipelined: what it copies to shared memory, and the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from hbc.ir.algebra.linear import linear, plus, to_expr
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import free_variables, move_accesses, nodes

_STORES = (ir.Store, ir.BulkCopy)


@record
class StagedBody:
    """`buffers` in shared memory that nothing but the `copies` stores to; `names` hold in both parts."""

    buffers: tuple[ir.Allocate, ...]
    names: tuple[tuple[str, ir.Expr], ...]
    copies: tuple[ir.Stmt, ...]
    rest: tuple[ir.Stmt, ...]


def staged_body(loop: ir.For) -> StagedBody | None:
    """The parts of the loop's body; None where nothing can be copied ahead."""
    allocations, names, stmts = _opened(loop.body)
    stored = {n.buffer for n in nodes(loop.body) if isinstance(n, _STORES)}
    late = _data(names, stored)
    shared = (a for a in allocations if a.memory is Memory.SHARED)
    slots = {a.buffer for a in shared if isinstance(a.extent, ir.Const)}
    while slots:
        is_copy = [_is_copy(s, slots, stored, late) for s in stmts]
        kept = {b for b in slots if _only_copied(b, stmts, is_copy)}
        if kept == slots:
            break
        slots = kept
    if not slots:
        return None
    copies = [s for s, ahead in zip(stmts, is_copy, strict=True) if ahead]
    rest: ir.Stmt = ir.Block(tuple(s for s, ahead in zip(stmts, is_copy, strict=True) if not ahead))
    for a in reversed(allocations):
        if a.buffer not in slots:
            rest = replace(a, body=rest)
    buffers = tuple(a for a in allocations if a.buffer in slots)
    parts = rest.body if isinstance(rest, ir.Block) else (rest,)
    return StagedBody(buffers, tuple(names), tuple(copies), parts)


def moved(s: ir.Stmt, offsets: Mapping[str, ir.Expr]) -> ir.Stmt:
    """The statement with other places in some buffers: so many elements further."""
    return move_accesses(s, {name: partial(further, by=by) for name, by in offsets.items()})


def further(index: ir.Expr, by: ir.Expr) -> ir.Expr:
    """An index, of any lanes, so many elements further."""
    match index:
        case ir.Ramp(base=base):
            return replace(index, base=further(base, by))
        case ir.Broadcast(value=value):
            return replace(index, value=further(value, by))
        case _ if index.type.lanes > 1:
            return add(index, broadcast(by, index.type.lanes))
        case _:
            return to_expr(plus(linear(index), linear(by)))


def _opened(s: ir.Stmt) -> tuple[list[ir.Allocate], list[tuple[str, ir.Expr]], list[ir.Stmt]]:
    """The arrays and names that the statement begins with, and what it does in them."""
    match s:
        case ir.Allocate():
            allocations, names, stmts = _opened(s.body)
            return [s, *allocations], names, stmts
        case ir.LetStmt(name=name, value=value):
            allocations, names, stmts = _opened(s.body)
            return allocations, [(name, value), *names], stmts
        case ir.Block(body=body) if body and isinstance(body[-1], ir.Allocate):
            allocations, names, stmts = _opened(body[-1])
            if not names:
                return allocations, names, [*body[:-1], *stmts]
            return [], [], list(body)
        case ir.Block(body=body):
            return [], [], list(body)
        case _:
            return [], [], [s]


def _data(names: Sequence[tuple[str, ir.Expr]], stored: Collection[str]) -> set[str]:
    """The names whose values depend on what the loop stores."""
    data_names: set[str] = set()
    for name, value in names:
        reads = any(isinstance(n, ir.Load) and n.buffer in stored for n in nodes(value))
        if reads or not free_variables(value).isdisjoint(data_names):
            data_names.add(name)
    return data_names


def _is_copy(s: ir.Stmt, slots: set[str], stored: set[str], late: set[str]) -> bool:
    """Whether the statement fills these buffers from what the loop does not store."""
    below = list(nodes(s))
    own = {n.buffer for n in below if isinstance(n, ir.Allocate)}
    bulk = [n for n in below if isinstance(n, ir.BulkCopy)]
    targets = {n.buffer for n in below if isinstance(n, ir.Store)} - own | {n.buffer for n in bulk}
    sources = {n.buffer for n in below if isinstance(n, ir.Load)} - own | {n.source for n in bulk}
    return (
        bool(targets)
        and targets <= slots
        and sources.isdisjoint(stored)
        and free_variables(s).isdisjoint(late)
        and not any(isinstance(n, ir.Barrier | ir.CopyCommit | ir.CopyWait) for n in below)
    )


def _only_copied(buffer: str, stmts: Sequence[ir.Stmt], is_copy: Sequence[bool]) -> bool:
    """Whether all stores are in copies, at least one, and all of these before anything else is done
    with the buffer."""
    begun = used = False
    for s, copies in zip(stmts, is_copy, strict=True):
        if isinstance(s, ir.Comment):
            continue
        stores = any(isinstance(n, _STORES) and n.buffer == buffer for n in nodes(s))
        touched = stores or any(isinstance(n, ir.Load) and n.buffer == buffer for n in nodes(s))
        if stores and (used or not copies):
            return False
        begun = begun or stores
        used = used or (touched and not copies)
    return begun
