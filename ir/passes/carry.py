"""Scans keep in registers what the next iterations look back to: elements or whole vectors.

    for t { y[t] = x[t] + a * y[t - 1] }
->  kept[0] = y[-1]; for t { let new = x[t] + a * kept[0] in { y[t] = new; kept[0] = new } }

    for t { y[u] = y[u] + x[t] }   ->   kept[0] = y[u]; for t { kept[0] = kept[0] + x[t] }; y[u] = kept[0]

Otherwise each iteration would wait until memory has what the one before stored. (The second is for a
GPU's threads: C compilers do that one themselves.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.ir.algebra.linear import linear, minus
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, gt, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, free_variables, map_stmt, nodes_of, rewrite, substitute

MOST_KEPT = 4  # iterations


def carry(kernel: Kernel, threads: bool) -> Kernel:
    """The kernel with its scans made so; with `threads` only those of a GPU's threads."""
    taken = {
        n.buffer if isinstance(n, ir.Allocate) else n.name
        for n in nodes_of(kernel.body, ir.Allocate, ir.LetStmt, ir.Var)
    }
    taken |= {a.name for a in kernel.arguments} | {t.name for t in kernel.tables}
    return kernel.map_body(lambda s: _walk(s, taken, not threads, threads))


def _walk(s: ir.Stmt, taken: set[str], here: bool, threads: bool) -> ir.Stmt:
    if isinstance(s, ir.For):
        here = here or s.kind in (ir.LoopKind.THREAD, ir.LoopKind.LANE)
        store = _last(s.body)
        if here and s.kind is ir.LoopKind.SERIAL and store is not None:
            summed = _summed(s, store, taken) if threads and store is s.body else None
            scan = summed or _carried(s, store, taken)
            if scan is not None:
                return scan
    return map_stmt(s, lambda e: e, lambda c: _walk(c, taken, here, threads))


def _summed(loop: ir.For, store: ir.Store, taken: set[str]) -> ir.Stmt | None:
    """The loop with the one element that it goes on changing in a register; None where it has none."""
    own = [n for n in nodes_of(store.value, ir.Load) if n.buffer == store.buffer]
    moves = loop.var in free_variables(store.index)
    plain = store.mask is None and store.value.type.lanes == 1
    if moves or not own or not plain or any(n.index != store.index or n.mask for n in own):
        return None
    kept = ir.Load(_fresh(f"{store.buffer}_kept", taken), ir.const_index(0), store.value.type)
    value = rewrite(store.value, lambda e: kept if e in own else e)
    scan = replace(loop, body=ir.Store(kept.buffer, kept.index, value, None, store.span))
    first = ir.Store(kept.buffer, kept.index, ir.Load(store.buffer, store.index, kept.type))
    inner = _where_it_runs(loop, block(first, scan, replace(store, value=kept)))
    return _in_register(loop, kept, 1, inner)


def _last(s: ir.Stmt) -> ir.Store | None:
    """The store that an iteration ends with, whatever it does before."""
    match s:
        case ir.Store():
            return s
        case ir.Block(body=body):
            return _last(body[-1]) if body else None
        case ir.LetStmt(body=inner) | ir.Allocate(body=inner):
            return _last(inner)
        case _:
            return None


def _carried(loop: ir.For, store: ir.Store, taken: set[str]) -> ir.Stmt | None:
    """The loop with what it looks back to in registers, where that is all that it reads of its own."""
    back = _looks_back(loop, store)
    if not back:
        return None
    kept = _fresh(f"{store.buffer}_kept", taken)
    new = _fresh(f"{store.buffer}_new", taken)
    t = store.value.type
    most = max(back.values())

    def place(d: int) -> ir.Expr:
        first = ir.const_index(d * t.lanes)
        return first if t.lanes == 1 else ir.Ramp(first, ir.const_index(1), t.lanes)

    def from_registers(e: ir.Expr) -> ir.Expr:
        ago = back.get(e) if isinstance(e, ir.Load) else None
        return ir.Load(kept, place(ago - 1), t) if ago is not None else e

    def keep(d: int, value: ir.Expr) -> ir.Store:
        return ir.Store(kept, place(d), value)

    def before(d: int) -> ir.Expr:
        at = {loop.var: sub(loop.start, d)}
        return ir.Load(store.buffer, simplify(substitute(store.index, at)), t)

    def kept_too(s: ir.Stmt) -> ir.Stmt:
        if s is not store:
            return map_stmt(s, lambda e: rewrite(e, from_registers), kept_too)
        stored = block(
            replace(store, value=ir.Var(new, t)),
            *(keep(d, ir.Load(kept, place(d - 1), t)) for d in reversed(range(1, most))),
            keep(0, ir.Var(new, t)),
        )
        return ir.LetStmt(new, rewrite(store.value, from_registers), stored)

    scan = replace(loop, body=kept_too(loop.body))
    entry = [keep(d - 1, before(d)) for d in range(1, most + 1)]
    inner = _where_it_runs(loop, block(*entry, scan))
    return _in_register(loop, ir.Load(kept, place(0), t), most * t.lanes, inner)


def _where_it_runs(loop: ir.For, s: ir.Stmt) -> ir.Stmt:
    runs = simplify(gt(loop.extent, 0))
    return s if const_value(runs) is True else ir.If(runs, s)


def _in_register(loop: ir.For, kept: ir.Load, count: int, body: ir.Stmt) -> ir.Stmt:
    element = kept.type.element
    return ir.Allocate(
        kept.buffer, element, ir.const_index(count), Memory.STACK, body, "", loop.span
    )


def _looks_back(loop: ir.For, store: ir.Store) -> Mapping[ir.Expr, int]:
    """How many iterations ago what each load reads was stored; of no load where one reads otherwise."""
    own = {n.name for n in nodes_of(loop.body, ir.LetStmt)}
    own |= {n.var for n in nodes_of(loop.body, ir.For)}
    stores = [n for n in nodes_of(loop.body, ir.Store) if n.buffer == store.buffer]
    if len(stores) > 1 or not own.isdisjoint(free_variables(store.index)):
        return {}
    # What an iteration may not read may not be there on entry.
    perhaps = (n for part in nodes_of(loop.body, ir.If, ir.For) for n in nodes_of(part, ir.Load))
    if any(n.buffer == store.buffer for n in perhaps):
        return {}
    first, lanes = _first(store.index), store.value.type.lanes
    if first is None or store.mask is not None or store.asynchronous or store.atomic is not None:
        return {}
    steps = minus(linear(first), linear(_earlier(first, loop.var, 1)))
    if steps.terms or abs(steps.constant) < lanes:  # or the next vector covers some of this one
        return {}
    distances: dict[ir.Expr, int] = {}
    for n in nodes_of(loop.body, ir.Load):
        if n.buffer != store.buffer:
            continue
        at = _first(n.index) if n.type == store.value.type else None
        if at is None or n.mask is not None:
            return {}
        gap = minus(linear(first), linear(at))
        if gap.terms or gap.constant % steps.constant:
            return {}
        ago = gap.constant // steps.constant
        if not 0 <= ago <= MOST_KEPT:
            return {}
        if ago > 0:
            distances[n] = ago
    # What is between is read on entry too, and only what the loop reads is known to be there.
    return (
        distances
        if set(distances.values()) == set(range(1, len(set(distances.values())) + 1))
        else {}
    )


def _first(index: ir.Expr) -> ir.Expr | None:
    """Where neighbouring elements begin; None where others are meant."""
    if index.type.lanes == 1:
        return index
    return index.base if isinstance(index, ir.Ramp) and const_value(index.stride) == 1 else None


def _earlier(index: ir.Expr, name: str, by: int) -> ir.Expr:
    return substitute(index, {name: sub(ir.Var(name), by)})


def _fresh(name: str, taken: set[str]) -> str:
    fresh = unused(name, taken, "_")
    taken.add(fresh)
    return fresh
