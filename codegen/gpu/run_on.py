"""Asynchronous products that run on into the next iteration of a loop, so that nobody waits where it ends.

    for t { use(s); products commit; products wait 0 }
->  for t { use(s); products commit; products wait 1 } products wait 0

    for t { first; products commit; products wait 0 of a; use(a, b); last(b); products commit
            products wait 0 of b }
->  for t { first; products commit; products wait 0 of a, b; use(a, b); last(b); products commit }
    products wait 0 of b
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children, map_stmt, nodes, nodes_of, statements


@record
class RunOn:
    """What the loop does then; the arrays that products read when an iteration has ended, which are to be
    outside of the loop; and the wait behind it."""

    rest: tuple[ir.Stmt, ...]
    outside: tuple[ir.Allocate, ...]
    wait: ir.CopyWait


def run_on(rest: Sequence[ir.Stmt]) -> RunOn | None:
    """What an iteration does besides copies, where its last products run on; None where they cannot."""
    if _alone(rest):
        last = rest[-1]
        assert isinstance(last, ir.CopyWait)
        return RunOn(tuple(map(_waiting_less, rest)), (), last)
    return _absorbed(rest)


def is_product(s: ir.Stmt) -> bool:
    """Whether the statement begins an asynchronous product."""
    return isinstance(s, ir.Store) and s.asynchronous and isinstance(s.value, ir.Instruct)


def _alone(rest: Sequence[ir.Stmt]) -> bool:
    """Whether it ends with its products, and touches their sums in no other way."""
    last = rest[-1] if rest else None
    if not isinstance(last, ir.CopyWait) or not last.products or last.most:
        return False
    below = [x for s in rest for x in statements(s)]
    products = [x for x in below if is_product(x)]
    sums = {x.buffer for x in products if isinstance(x, ir.Store)}
    others = [x for x in below if x not in products]
    waits = sum(isinstance(x, ir.CopyWait) for x in below)
    return waits == 1 and not any(_touches(x, sums) for x in others)


def _absorbed(rest: Sequence[ir.Stmt]) -> RunOn | None:
    """Where an earlier wait, in the next iteration, comes before all that touches the registers of the last
    products."""
    around: list[ir.Allocate] = []
    body = list(rest)
    while len(body) == 1 and isinstance(body[0], ir.Allocate):
        around.append(body[0])
        inner = body[0].body
        body = list(inner.body) if isinstance(inner, ir.Block) else [inner]
    waits = [n for n, s in enumerate(body) if _waits_for_all(s)]
    if len(waits) < 2:
        return None
    first, last = waits[0], waits[-1]
    match body[last - 3 : last]:
        case [ir.Fence(sums=registers), ir.For() as nest, ir.CopyCommit(products=True)]:
            read = {n.buffer for n in nodes_of(nest, ir.Load)}
        case _:
            return None
    outside = [s for n, s in enumerate(body) if n < first or n > last]
    stored = {x.buffer for s in body for x in statements(s) if isinstance(x, ir.Store)}
    if (read - set(registers)) & stored:
        return None  # the next iteration stores what they still read
    below = [x for s in (*outside, body[first]) for x in statements(s)]
    if any(_touches(x, registers) for x in below):
        return None
    if any(isinstance(x, ir.CopyWait) and x.products for s in outside for x in statements(s)):
        return None
    early, late = body[first], body[last]
    assert isinstance(early, ir.CopyWait) and isinstance(late, ir.CopyWait)
    body[first] = replace(early, sums=tuple(dict.fromkeys((*early.sums, *late.sums))))
    del body[last]
    made: ir.Stmt = ir.Block(tuple(body))
    for a in reversed(around):
        if a.buffer not in registers:
            made = replace(a, body=made)
    parts = made.body if isinstance(made, ir.Block) else (made,)
    return RunOn(parts, tuple(a for a in around if a.buffer in registers), late)


def _waits_for_all(s: ir.Stmt) -> bool:
    return isinstance(s, ir.CopyWait) and s.products and not s.most


def _touches(s: ir.Stmt, buffers: Collection[str]) -> bool:
    """Whether the statement itself loads from or stores to them."""
    if isinstance(s, ir.Store) and s.buffer in buffers:
        return True
    own = [c for c in children(s) if not isinstance(c, ir.Stmt)]
    return any(isinstance(n, ir.Load) and n.buffer in buffers for c in own for n in nodes(c))


def _waiting_less(s: ir.Stmt) -> ir.Stmt:
    """With one group of products under way behind it."""
    if isinstance(s, ir.CopyWait) and s.products:
        return replace(s, most=1)
    return map_stmt(s, lambda e: e, _waiting_less)
