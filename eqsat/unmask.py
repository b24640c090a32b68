"""Local buffers whose masked stores may write all lanes.

The tail of a tile stores under a mask and is later read under the same. Where every store to a piece of
a buffer in registers or tiles has the same mask, lanes outside it are never read: what is in them does
not matter, and instructions may compute it.
"""

from __future__ import annotations

from collections.abc import Hashable

from hbc.eqsat.tensor import (
    Apply,
    Line,
    NotTensorError,
    Read,
    Tensor,
    Uniform,
    box,
    conjuncts,
    tensor,
)
from hbc.ir.lane_offsets import constant_lanes
from hbc.ir.nodes import Allocate, Binary, Load, Store
from hbc.ir.show import show
from hbc.ir.types import Memory
from hbc.ir.walk import nodes

LOCAL = (Memory.REGISTER, Memory.AMX_TILE)


def is_relaxed(a: Allocate) -> bool:
    """Whether the buffer is in registers or tiles, and each of its pieces is always stored to under
    one mask."""
    if a.memory not in LOCAL:
        return False
    stores = [n for n in nodes(a.body) if isinstance(n, Store) and n.buffer == a.buffer]
    if not stores or any(s.mask is None for s in stores):
        return False
    pieces: dict[frozenset[int], set[frozenset[Hashable]]] = {}
    for s in stores:
        elements = constant_lanes(s.index)
        try:
            pieces.setdefault(frozenset(elements or ()), set()).add(conditions_of(s))
        except NotTensorError:
            return False
    apart = len(frozenset().union(*pieces)) == sum(map(len, pieces))
    known = len(pieces) == 1 or (apart and frozenset() not in pieces)
    return known and all(len(masks) == 1 for masks in pieces.values())


def conditions_of(s: Store) -> frozenset[Hashable]:
    """The conditions of a store's mask, as functions of the element stored to: whatever the order of
    the lanes and of the conditions. Raises NotTensorError."""
    assert s.mask is not None
    dest = Load(s.buffer, s.index, s.value.type)
    dims = box(dest, s.mask)
    where = tensor(dest, dims)
    assert isinstance(where, Read)
    return frozenset(_by_address(c, where) for c in conjuncts(tensor(s.mask, dims)))


def _by_address(x: Tensor, where: Read) -> Hashable:
    """The tensor with each dimension named by its extent and by how far it moves the destination."""
    moves = {d: show(stride) for d, stride in where.strides}
    match x:
        case Line(base=base, strides=strides):
            along = frozenset((d.extent, moves.get(d, "0"), show(s)) for d, s in strides)
            return "line", show(base), along
        case Uniform(value=value):
            return "uniform", show(value)
        case Apply(node=Binary(op=op), args=args):
            return op, tuple(_by_address(a, where) for a in args)
        case _:
            return x
