"""Scans of a GPU's threads keep in registers what the next iterations look back to.

    for t { y[t] = x[t] + a * y[t - 1] }
->  kept[0] = y[-1]; for t { let new = x[t] + a * kept[0] in { y[t] = new; kept[0] = new } }

    for t { y[u] = y[u] + x[t] }   ->   kept[0] = y[u]; for t { kept[0] = kept[0] + x[t] }; y[u] = kept[0]

Otherwise each iteration would wait until memory has what the one before stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.ir.build import const_value, gt, sub
from hbc.ir.kernel import Kernel
from hbc.ir.linear import linear, minus
from hbc.ir.nodes import (
    Allocate,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.simplify import simplify
from hbc.ir.types import Memory
from hbc.ir.walk import block, free_variables, map_stmt, nodes, rewrite, substitute

MOST_KEPT = 4  # iterations


def carry(kernel: Kernel) -> Kernel:
    """The kernel with scans in its loops over threads made so."""
    taken = {n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate)}
    taken |= {n.name for n in nodes(kernel.body) if isinstance(n, LetStmt)}
    taken |= {n.name for n in nodes(kernel.body) if isinstance(n, Var)}
    taken |= {a.name for a in kernel.arguments} | {t.name for t in kernel.tables}
    return kernel.map_body(lambda s: _walk(s, taken, False))


def _walk(s: Stmt, taken: set[str], in_thread: bool) -> Stmt:
    if isinstance(s, For):
        in_thread = in_thread or s.kind in (LoopKind.THREAD, LoopKind.LANE)
        if in_thread and s.kind is LoopKind.SERIAL and isinstance(s.body, Store):
            return _summed(s, s.body, taken) or _carried(s, s.body, taken)
    return map_stmt(s, lambda e: e, lambda c: _walk(c, taken, in_thread))


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


def _carried(loop: For, store: Store, taken: set[str]) -> Stmt:
    """The loop, with what it looks back to in registers where that is all that it reads of its own."""
    back = _looks_back(loop, store)
    if not back:
        return loop
    kept = _fresh(f"{store.buffer}_kept", taken)
    new = _fresh(f"{store.buffer}_new", taken)
    t = store.value.type
    most = max(back.values())

    def from_registers(e: Expr) -> Expr:
        found = back.get(e) if isinstance(e, Load) else None
        return Load(kept, const_index(found - 1), t) if found is not None else e

    def keep(d: int, value: Expr) -> Store:
        return Store(kept, const_index(d), value)

    def before(d: int) -> Expr:
        at = {loop.var: sub(loop.start, d)}
        return Load(store.buffer, simplify(substitute(store.index, at)), t)

    body = block(
        replace(store, value=Var(new, t)),
        *(keep(d, Load(kept, const_index(d - 1), t)) for d in reversed(range(1, most))),
        keep(0, Var(new, t)),
    )
    scan = replace(loop, body=LetStmt(new, rewrite(store.value, from_registers), body))
    entry = [keep(d - 1, before(d)) for d in range(1, most + 1)]
    inner = _where_it_runs(loop, block(*entry, scan))
    return _in_register(loop, Load(kept, const_index(0), t), most, inner)


def _where_it_runs(loop: For, s: Stmt) -> Stmt:
    runs = simplify(gt(loop.extent, 0))
    return s if const_value(runs) is True else If(runs, s)


def _in_register(loop: For, kept: Load, count: int, body: Stmt) -> Stmt:
    element = kept.type.element
    return Allocate(
        kept.buffer, element, const_index(count), Memory.STACK, body, loop.note, loop.span
    )


def _looks_back(loop: For, store: Store) -> Mapping[Expr, int]:
    """How many iterations ago what each load reads was stored; of no load where one reads otherwise."""
    steps = minus(linear(store.index), linear(_earlier(store.index, loop.var, 1)))
    if store.mask is not None or store.value.type.lanes > 1 or steps.terms or not steps.constant:
        return {}
    found: dict[Expr, int] = {}
    for n in nodes(store.value):
        if not isinstance(n, Load) or n.buffer != store.buffer:
            continue
        gap = minus(linear(store.index), linear(n.index))
        if gap.terms or n.mask is not None or gap.constant % steps.constant:
            return {}
        ago = gap.constant // steps.constant
        if not 0 <= ago <= MOST_KEPT:
            return {}
        if ago > 0:
            found[n] = ago
    # What is between is read on entry too, and only what the loop reads is known to be there.
    return found if set(found.values()) == set(range(1, len(set(found.values())) + 1)) else {}


def _earlier(index: Expr, name: str, by: int) -> Expr:
    return substitute(index, {name: sub(Var(name), by)})


def _fresh(name: str, taken: set[str]) -> str:
    candidate, n = name, 1
    while candidate in taken:
        n += 1
        candidate = f"{name}_{n}"
    taken.add(candidate)
    return candidate
