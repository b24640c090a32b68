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
from hbc.ir.lang.build import const_value, gt, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.nodes import (
    Allocate,
    Block,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, free_variables, map_stmt, nodes, rewrite, substitute

MOST_KEPT = 4  # iterations


def carry(kernel: Kernel, threads: bool) -> Kernel:
    """The kernel with its scans made so; with `threads` only those of a GPU's threads."""
    taken = {n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate)}
    taken |= {n.name for n in nodes(kernel.body) if isinstance(n, LetStmt)}
    taken |= {n.name for n in nodes(kernel.body) if isinstance(n, Var)}
    taken |= {a.name for a in kernel.arguments} | {t.name for t in kernel.tables}
    return kernel.map_body(lambda s: _walk(s, taken, not threads, threads))


def _walk(s: Stmt, taken: set[str], here: bool, threads: bool) -> Stmt:
    if isinstance(s, For):
        here = here or s.kind in (LoopKind.THREAD, LoopKind.LANE)
        store = _last(s.body)
        if here and s.kind is LoopKind.SERIAL and store is not None:
            summed = _summed(s, store, taken) if threads and store is s.body else None
            scan = summed or _carried(s, store, taken)
            if scan is not None:
                return scan
    return map_stmt(s, lambda e: e, lambda c: _walk(c, taken, here, threads))


def _summed(loop: For, store: Store, taken: set[str]) -> Stmt | None:
    """The loop with the one element that it goes on changing in a register; None where it has none."""
    own = [n for n in nodes(store.value) if isinstance(n, Load) and n.buffer == store.buffer]
    moves = loop.var in free_variables(store.index)
    plain = store.mask is None and store.value.type.lanes == 1
    if moves or not own or not plain or any(n.index != store.index or n.mask for n in own):
        return None
    kept = Load(_fresh(f"{store.buffer}_kept", taken), const_index(0), store.value.type)
    value = rewrite(store.value, lambda e: kept if e in own else e)
    scan = replace(loop, body=Store(kept.buffer, kept.index, value, None, store.span))
    first = Store(kept.buffer, kept.index, Load(store.buffer, store.index, kept.type))
    inner = _where_it_runs(loop, block(first, scan, replace(store, value=kept)))
    return _in_register(loop, kept, 1, inner)


def _last(s: Stmt) -> Store | None:
    """The store that an iteration ends with, whatever it does before."""
    match s:
        case Store():
            return s
        case Block(body=body):
            return _last(body[-1]) if body else None
        case LetStmt(body=inner) | Allocate(body=inner):
            return _last(inner)
        case _:
            return None


def _carried(loop: For, store: Store, taken: set[str]) -> Stmt | None:
    """The loop with what it looks back to in registers, where that is all that it reads of its own."""
    back = _looks_back(loop, store)
    if not back:
        return None
    kept = _fresh(f"{store.buffer}_kept", taken)
    new = _fresh(f"{store.buffer}_new", taken)
    t = store.value.type
    most = max(back.values())

    def place(d: int) -> Expr:
        first = const_index(d * t.lanes)
        return first if t.lanes == 1 else Ramp(first, const_index(1), t.lanes)

    def from_registers(e: Expr) -> Expr:
        found = back.get(e) if isinstance(e, Load) else None
        return Load(kept, place(found - 1), t) if found is not None else e

    def keep(d: int, value: Expr) -> Store:
        return Store(kept, place(d), value)

    def before(d: int) -> Expr:
        at = {loop.var: sub(loop.start, d)}
        return Load(store.buffer, simplify(substitute(store.index, at)), t)

    def kept_too(s: Stmt) -> Stmt:
        if s is not store:
            return map_stmt(s, lambda e: rewrite(e, from_registers), kept_too)
        stored = block(
            replace(store, value=Var(new, t)),
            *(keep(d, Load(kept, place(d - 1), t)) for d in reversed(range(1, most))),
            keep(0, Var(new, t)),
        )
        return LetStmt(new, rewrite(store.value, from_registers), stored)

    scan = replace(loop, body=kept_too(loop.body))
    entry = [keep(d - 1, before(d)) for d in range(1, most + 1)]
    inner = _where_it_runs(loop, block(*entry, scan))
    return _in_register(loop, Load(kept, place(0), t), most * t.lanes, inner)


def _where_it_runs(loop: For, s: Stmt) -> Stmt:
    runs = simplify(gt(loop.extent, 0))
    return s if const_value(runs) is True else If(runs, s)


def _in_register(loop: For, kept: Load, count: int, body: Stmt) -> Stmt:
    element = kept.type.element
    return Allocate(kept.buffer, element, const_index(count), Memory.STACK, body, "", loop.span)


def _looks_back(loop: For, store: Store) -> Mapping[Expr, int]:
    """How many iterations ago what each load reads was stored; of no load where one reads otherwise."""
    inside = [*nodes(loop.body)]
    own = {n.name for n in inside if isinstance(n, LetStmt)}
    own |= {n.var for n in inside if isinstance(n, For)}
    stores = [n for n in inside if isinstance(n, Store) and n.buffer == store.buffer]
    if len(stores) > 1 or not own.isdisjoint(free_variables(store.index)):
        return {}
    # What an iteration may not read may not be there on entry.
    perhaps = (n for part in inside if isinstance(part, If | For) for n in nodes(part))
    if any(isinstance(n, Load) and n.buffer == store.buffer for n in perhaps):
        return {}
    first, lanes = _first(store.index), store.value.type.lanes
    if first is None or store.mask is not None or store.asynchronous or store.atomic is not None:
        return {}
    steps = minus(linear(first), linear(_earlier(first, loop.var, 1)))
    if steps.terms or abs(steps.constant) < lanes:  # or the next vector covers some of this one
        return {}
    found: dict[Expr, int] = {}
    for n in inside:
        if not isinstance(n, Load) or n.buffer != store.buffer:
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
            found[n] = ago
    # What is between is read on entry too, and only what the loop reads is known to be there.
    return found if set(found.values()) == set(range(1, len(set(found.values())) + 1)) else {}


def _first(index: Expr) -> Expr | None:
    """Where neighbouring elements begin; None where others are meant."""
    if index.type.lanes == 1:
        return index
    return index.base if isinstance(index, Ramp) and const_value(index.stride) == 1 else None


def _earlier(index: Expr, name: str, by: int) -> Expr:
    return substitute(index, {name: sub(Var(name), by)})


def _fresh(name: str, taken: set[str]) -> str:
    found = unused(name, taken, "_")
    taken.add(found)
    return found
