"""Local buffers whose masked stores may write all lanes.

The tail of a tile stores under a mask and is later read under the same. Where every store to a buffer
in registers or tiles has the same mask, lanes outside it are never read: what is in them does not
matter, and instructions may compute it.
"""

from __future__ import annotations

from hbc.ir.nodes import Allocate, Binary, Broadcast, Expr, Op, Store
from hbc.ir.show import show
from hbc.ir.types import Memory
from hbc.ir.walk import nodes

LOCAL = (Memory.REGISTER, Memory.AMX_TILE)


def is_relaxed(a: Allocate) -> bool:
    """Whether the buffer is in registers or tiles, and all its stores have one mask."""
    if a.memory not in LOCAL:
        return False
    masks = {
        None if n.mask is None else conditions_of(n.mask)
        for n in nodes(a.body)
        if isinstance(n, Store) and n.buffer == a.buffer
    }
    return len(masks) == 1 and None not in masks


def conditions_of(mask: Expr) -> frozenset[str]:
    """The conditions that must hold together, whatever their order."""
    return frozenset(show(c) for c in _conjuncts(mask, ()))


def _conjuncts(e: Expr, copies: tuple[int, ...]) -> list[Expr]:
    match e:
        case Binary(op=Op.AND, a=a, b=b):
            return _conjuncts(a, copies) + _conjuncts(b, copies)
        case Broadcast(value=v, lanes=n):
            return _conjuncts(v, (*copies, n))
        case _:
            whole: Expr = e
            for n in reversed(copies):
                whole = Broadcast(whole, n)
            return [whole]
