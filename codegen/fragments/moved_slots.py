"""Slots that turn with a loop, as slots that stay while their values move: registers have no addresses.

    for t { top[32 * ((t + 1) % 2) + i] = max(top[32 * (t % 2) + i], best[i]) }
->  for t { top[32 + i] = max(top[i], best[i]); top[i] = top[32 + i] }

What the first iteration alone stores before, as a scan's first value, is told by its condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import eq, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS, thread_loops
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    children,
    free_variables,
    map_stmt,
    move_accesses,
    nodes,
    statements,
    substitute,
    substitute_stmt,
)

_ZERO = ir.const_index(0)


@record
class Slot:
    """The access is of step t + `step`, in one of `count` slots of `size` elements."""

    step: int
    count: int
    size: int


def moved_slots(kernel: Kernel) -> Kernel:
    """The kernel where arrays in the registers of lanes have slots that stay."""
    return kernel.map_body(_outside)


def _outside(s: ir.Stmt) -> ir.Stmt:
    if isinstance(s, ir.For) and s.kind in THREADS:
        return s
    s = map_stmt(s, lambda e: e, _outside)
    if not isinstance(s, ir.Allocate) or s.memory is not Memory.REGISTER:
        return s
    loops = [n for n in statements(s.body) if isinstance(n, ir.For) and _turns(n, s.buffer)]
    if len(loops) != 1 or _touches(s.body, s.buffer) != _touches(loops[0], s.buffer):
        return s
    made = _moved(loops[0], s.buffer)
    return s if made is None else replace(s, body=_with(s.body, loops[0], made))


def _touches(s: ir.Stmt, buffer: str) -> int:
    return sum(isinstance(n, ir.Load | ir.Store) and n.buffer == buffer for n in nodes(s))


def _with(s: ir.Stmt, old: ir.For, new: ir.Stmt) -> ir.Stmt:
    return new if s is old else map_stmt(s, lambda e: e, lambda c: _with(c, old, new))


def _turns(loop: ir.For, buffer: str) -> bool:
    return loop.kind is ir.LoopKind.SERIAL and any(
        isinstance(n, ir.Store) and n.buffer == buffer and _slot(n.index, loop.var) is not None
        for n in nodes(loop.body)
    )


def _slot(index: ir.Expr, var: str) -> Slot | None:
    """Which slot, by the one term that turns with the loop."""
    found = []
    for atom, size in linear(index).terms:
        match atom:
            case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=count)) if count > 1:
                step = linear(sub(a, ir.Var(var)))
                if step.is_constant:
                    found.append(Slot(step.constant % int(count), int(count), size))
            case _:
                pass
    return found[0] if len(found) == 1 else None


def _moved(loop: ir.For, buffer: str) -> ir.Stmt | None:
    """The loop with slots that stay; None where it is not known what the first iteration does, or what
    is the latest step."""
    if loop.start != _ZERO:
        return None
    before: list[ir.Stmt] = []
    inner = {n.var for n in statements(loop.body) if isinstance(n, ir.For)}
    inner |= {n.name for n in statements(loop.body) if isinstance(n, ir.LetStmt)}
    body = _first_apart(loop.body, loop.var, buffer, before, inner)
    stores = [(nest, s) for nest, s in _stores(body, buffer, ()) if _slot(s.index, loop.var)]
    slots = {slot for _, s in stores if (slot := _slot(s.index, loop.var))}
    if len(slots) != 1:
        return None
    (latest,) = slots
    for n, first in _accesses(body, loop.var, buffer, False):
        slot = _slot(n.index, loop.var)
        alike = slot is not None and (slot.count, slot.size) == (latest.count, latest.size)
        if not alike and not (first and slot is None):
            return None

    def stays(index: ir.Expr, step: int | None = None) -> ir.Expr:
        form, slot = linear(index), _slot(index, loop.var)
        if slot is None:  # of the first iteration, whose steps are the slots
            step = form.constant // latest.size
            form = plus(form, Linear(-step * latest.size))
        elif step is None:
            step = slot.step
        place = (step - latest.step - 1) % latest.count
        made = Linear(form.constant + latest.size * place)
        for atom, c in form.terms:
            turns = slot is not None and c == slot.size and _slot(atom, loop.var) is not None
            made = made if turns else plus(made, of_atom(atom, c))
        return simplify(to_expr(made))

    staying = {buffer: stays}
    nest, last = stores[-1]
    if not any(isinstance(x, ir.For) and x.kind is ir.LoopKind.LANE for x in nest):
        return None
    moves: list[ir.Stmt] = []
    for k in range(1, latest.count):
        steps = ((latest.step + k) % latest.count, (latest.step + 1 + k) % latest.count)
        to, source = (stays(last.index, step) for step in steps)
        move: ir.Stmt = ir.Store(buffer, to, ir.Load(buffer, source, last.value.type))
        for around in reversed(nest):
            move = replace(around, body=move) if isinstance(around, ir.For) else ir.If(around, move)
        moves.append(move)
    inside = block(move_accesses(body, staying), *moves)
    return block(*(move_accesses(x, staying) for x in before), replace(loop, body=inside))


def _stores(
    n: ir.Node, buffer: str, nest: tuple[ir.For | ir.Expr, ...]
) -> Iterator[tuple[tuple[ir.For | ir.Expr, ...], ir.Store]]:
    """The stores of a buffer with the loops over threads around them, and the conditions in these."""
    if isinstance(n, ir.For) and n.kind in THREADS:
        nest = (*nest, n)
    if isinstance(n, ir.If) and nest and n.otherwise is None:
        nest = (*nest, n.condition)
    if isinstance(n, ir.Store) and n.buffer == buffer:
        yield nest, n
    for c in children(n):
        yield from _stores(c, buffer, nest)


def _accesses(
    n: ir.Node, var: str, buffer: str, first: bool
) -> Iterator[tuple[ir.Load | ir.Store, bool]]:
    """The accesses of a buffer; whether they are in the first iteration alone."""
    if isinstance(n, ir.Load | ir.Store) and n.buffer == buffer:
        yield n, first
    if isinstance(n, ir.If):
        yield from _accesses(n.condition, var, buffer, first)
        alone = n.condition == eq(ir.Var(var), _ZERO)
        yield from _accesses(n.then, var, buffer, first or alone)
        if n.otherwise is not None:
            yield from _accesses(n.otherwise, var, buffer, first)
        return
    for c in children(n):
        yield from _accesses(c, var, buffer, first)


def _first_apart(
    s: ir.Stmt, var: str, buffer: str, before: list[ir.Stmt], inner: Collection[str]
) -> ir.Stmt:
    """The body of a loop without what only its first iteration does, which is done `before` where that
    stores nothing but constants, else under a condition that says so. `inner`: names that the loop binds."""

    def inside(s: ir.Stmt, name: str, first: ir.Expr, later: ir.Expr) -> ir.Stmt:
        _, body = thread_loops(s)
        if isinstance(body, ir.If) and body.otherwise is None and _touches(body, buffer):
            ranges = Facts({var: Interval(ir.const_index(1), None)})
            afterwards = simplify(substitute(body.condition, {name: later}))
            if prove(afterwards, ranges) is False:
                once = simplify_stmt(substitute_stmt(s, {name: first, var: _ZERO}))
                if free_variables(once).isdisjoint(inner) and _is_constant(once, buffer):
                    before.append(once)
                    return block()
                return ir.If(eq(ir.Var(var), _ZERO), once)
        return map_stmt(s, lambda e: e, lambda c: inside(c, name, first, later))

    match s:
        case ir.LetStmt(name=name, value=ir.Select(condition=c, a=a, b=b)) if c == eq(
            ir.Var(var), _ZERO
        ):
            first = simplify(substitute(a, {var: _ZERO}))
            return replace(s, body=inside(s.body, name, first, b))
        case _:
            return map_stmt(s, lambda e: e, lambda c: _first_apart(c, var, buffer, before, inner))


def _is_constant(s: ir.Stmt, buffer: str) -> bool:
    """Whether it stores constants in the buffer, and does nothing else."""
    stores = [n for n in statements(s) if isinstance(n, ir.Store)]
    reads = any(isinstance(n, ir.Load) for n in nodes(s))
    return not reads and all(x.buffer == buffer and isinstance(x.value, ir.Const) for x in stores)
