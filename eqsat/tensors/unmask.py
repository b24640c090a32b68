"""Local buffers whose masked stores may write all lanes.

The tail of a tile stores under a mask and is later read under the same. Where every store to a piece of
a buffer in registers or tiles has the same mask, lanes outside it are never read: what is in them does
not matter, and instructions may compute it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Line,
    NotTensorError,
    Read,
    Tensor,
    Uniform,
    box,
    conjuncts,
    tensor,
)
from hbc.ir.algebra.linear import canonical
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, sub
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX, TILES, Memory
from hbc.ir.lang.walk import statements
from hbc.ir.vectors.lane_offsets import constant_lanes

LOCAL = (Memory.REGISTER, *sorted(TILES))


def is_relaxed(a: ir.Allocate) -> bool:
    """Whether the buffer is in registers or tiles, and each of its pieces is always stored to under
    one mask."""
    if a.memory not in LOCAL:
        return False
    stores = [n for n in statements(a.body) if isinstance(n, ir.Store) and n.buffer == a.buffer]
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
    whole = len(pieces) == 1 or (apart and frozenset() not in pieces)
    return whole and all(len(masks) == 1 for masks in pieces.values())


def conditions_of(s: ir.Store) -> frozenset[Hashable]:
    """The conditions of a store's mask, as functions of the element stored to: whatever the order of
    the lanes and of the conditions. Raises NotTensorError."""
    assert s.mask is not None
    dest = ir.Load(s.buffer, s.index, s.value.type)
    dims = box(dest, s.mask)
    where = tensor(dest, dims)
    assert isinstance(where, Read)
    return frozenset(by_address(c, where) for c in conjuncts(tensor(s.mask, dims)))


def zero_outside(a: ir.Allocate) -> frozenset[Hashable]:
    """Conditions where a local buffer is 0 unless they hold: all its stores are masked loads, whose
    other lanes are 0, and may write these."""
    if not is_relaxed(a):
        return frozenset()
    conditions: list[frozenset[Hashable]] = []
    for s in statements(a.body):
        if isinstance(s, ir.Store) and s.buffer == a.buffer:
            if not isinstance(s.value, ir.Load) or s.value.mask is None:
                return frozenset()
            conditions.append(conditions_of(ir.Store(s.buffer, s.index, s.value, s.value.mask)))
    return frozenset.intersection(*conditions)


def by_address(x: Tensor, where: Read) -> Hashable:
    """A condition on the elements of an array, whatever box and spelling it has: a comparison of
    indices by their difference, and by how it moves with the array's elements."""
    match x:
        case Apply(node=ir.Binary(op=op), args=(a, b)):
            left, right = _line(a), _line(b)
            if left is None or right is None:
                return op, by_address(a, where), by_address(b, where)
            moves = dict(left[1])
            for d, stride in right[1].items():
                moves[d] = sub(moves.get(d, ir.const_index(0)), stride)
            return op, show(canonical(sub(left[0], right[0]))), _along(moves, where)
        case _:
            return x


def _line(x: Tensor) -> tuple[ir.Expr, dict[Dim, ir.Expr]] | None:
    match x:
        case Line(base=base, strides=strides):
            return base, dict(strides)
        case Uniform(value=value) if value.type == INDEX:
            return value, {}
        case _:
            return None


def _along(moves: Mapping[Dim, ir.Expr], where: Read) -> Hashable:
    """Extent, stride in the array and stride of the index for each dimension that moves the index, the
    longest strides first, merged where they nest."""
    addresses = dict(where.strides)
    moving: list[tuple[int, int, int]] = []
    for d, stride in moves.items():
        address = const_value(addresses.get(d, ir.const_index(0)))
        step = const_value(canonical(stride))
        if address is None or step is None:
            return frozenset((d.extent, show(addresses[d]), show(s)) for d, s in moves.items())
        if step:
            moving.append((d.extent, int(address), int(step)))
    merged: list[tuple[int, int, int]] = []
    for extent, address, step in sorted(moving, key=lambda m: m[1]):
        if merged:
            n, inner, by = merged[-1]
            if address == n * inner and step == n * by:
                merged[-1] = (n * extent, inner, by)
                continue
        merged.append((extent, address, step))
    return tuple(merged)
