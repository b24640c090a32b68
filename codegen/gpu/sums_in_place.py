"""Sums that begin at zero and are then added to others: they begin with those.

    part[..] = 0; part[..] = product(part[..], a, b); all[..] = f * all[..] + part[..]
->  all[..] = f * all[..]; all[..] = product(all[..], a, b)

For products whose results are waited for: the registers of `part` are free, and nobody has to wait until
`all` is needed next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.types import TILES_OF_LANES
from hbc.ir.lang.walk import block, map_stmt, nodes, nodes_of, rewrite, statements

Tiles = Mapping[str, ir.Allocate]


def sums_in_place(kernel: Kernel) -> Kernel:
    """The kernel with such sums where they end up."""
    instructions = {i.name: i for i in kernel.instructions}
    if not any(i.place.asynchronous for i in kernel.instructions):
        return kernel
    allocated = (n for n in statements(kernel.body) if isinstance(n, ir.Allocate))
    tiles = {a.buffer: a for a in allocated if a.memory in TILES_OF_LANES}
    return kernel.map_body(lambda s: _stmt(s, instructions, tiles))


def _stmt(s: ir.Stmt, instructions: Mapping[str, Instruction], tiles: Tiles) -> ir.Stmt:
    s = map_stmt(s, lambda e: e, lambda c: _stmt(c, instructions, tiles))
    if isinstance(s, ir.Allocate) and s.buffer in tiles and isinstance(s.body, ir.Block):
        made = _joined(list(s.body.body), s.buffer, instructions, tiles)
        return s if made is None else block(*made)
    return s


def _joined(
    body: list[ir.Stmt], part: str, instructions: Mapping[str, Instruction], tiles: Tiles
) -> list[ir.Stmt] | None:
    """The statements in the scope of sums without these; None where they are needed."""
    users = [n for n, s in enumerate(body) if _touches(s, {part})]
    if len(users) < 3:
        return None
    first, *products, last = users
    zero, end = _only_store(body[first]), _only_store(body[last])
    if zero is None or end is None or zero.buffer != part or zero.mask or end.mask:
        return None
    value = zero.value.value if isinstance(zero.value, ir.Broadcast) else zero.value
    if const_value(value) != 0 or not all(
        _is_product(body[n], part, instructions) for n in products
    ):
        return None
    rest = _rest(end, part)
    if rest is None or end.buffer not in tiles or end.index != zero.index:
        return None
    if tiles[end.buffer].memory is not tiles[part].memory:
        return None
    read = {n.buffer for n in nodes_of(rest, ir.Load)}
    for s in body[first + 1 : last]:
        stored = {n.buffer for n in statements(s) if isinstance(n, ir.Store)}
        if stored & read or _touches(s, {end.buffer}):
            return None
    begin = _replaced(body[last], end, replace(end, value=rest))
    moved = [_renamed(s, part, end.buffer) if n in products else s for n, s in enumerate(body)]
    return [*moved[:first], begin, *moved[first + 1 : last], *moved[last + 1 :]]


def _only_store(s: ir.Stmt) -> ir.Store | None:
    """The one statement in a nest of loops over threads."""
    while isinstance(s, ir.For) and s.kind in THREADS:
        s = s.body
    return s if isinstance(s, ir.Store) and s.atomic is None else None


def _is_product(s: ir.Stmt, part: str, instructions: Mapping[str, Instruction]) -> bool:
    """Whether the statement does nothing but add asynchronous products to these sums."""
    stores = [x for x in statements(s) if isinstance(x, ir.Store)]
    return all(
        x.buffer == part
        and isinstance(x.value, ir.Instruct)
        and instructions[x.value.name].place.asynchronous is not None
        for x in stores
    )


def _rest(s: ir.Store, part: str) -> ir.Expr | None:
    """What the sums are added to, which are not read there and as many elements."""
    match s.value:
        case ir.Binary(op=ir.Op.ADD, a=a, b=ir.Load(buffer=b, index=index)) if b == part:
            rest = a
        case ir.Binary(op=ir.Op.ADD, a=ir.Load(buffer=b, index=index), b=a) if b == part:
            rest = a
        case _:
            return None
    again = any(isinstance(n, ir.Load) and n.buffer == part for n in nodes(rest))
    return None if again or index != s.index else rest


def _touches(s: ir.Stmt, buffers: Collection[str]) -> bool:
    return any(isinstance(n, ir.Load | ir.Store) and n.buffer in buffers for n in nodes(s))


def _replaced(s: ir.Stmt, old: ir.Stmt, new: ir.Stmt) -> ir.Stmt:
    return new if s is old else map_stmt(s, lambda e: e, lambda c: _replaced(c, old, new))


def _renamed(s: ir.Stmt, old: str, new: str) -> ir.Stmt:
    """With another buffer in place of one."""

    def load(e: ir.Expr) -> ir.Expr:
        return replace(e, buffer=new) if isinstance(e, ir.Load) and e.buffer == old else e

    made = map_stmt(s, lambda e: rewrite(e, load), lambda c: _renamed(c, old, new))
    return replace(made, buffer=new) if isinstance(made, ir.Store) and made.buffer == old else made
