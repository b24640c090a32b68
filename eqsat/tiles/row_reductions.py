"""Rows of tiles reduced where the tiles stay: each lane has its own elements first, then those that have
others of the row with it.

    top[i] = max(top[i], max over j of acc[i, j])   ->   top[ramp] = max(top[ramp], reduce<max>(acc, 16))

The elements of a tile lie row after row, so that one of its rows is a run of lanes of the vector.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.points import Place, Points, address, exists, given, value
from hbc.eqsat.tensors.tensor import Apply, Dim, Masked, Reduce, Tensor, reads
from hbc.eqsat.tiles.maps import Change, TileBuffers, changes
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, binary


def row_reductions(s: Statement, buffers: TileBuffers) -> list[ir.Store] | None:
    """A store for each tile that the statement reduces; None where it does anything else."""
    reduction = _reduced(s)
    if reduction is None or s.dest.buffer in buffers:
        return None
    read = [r for r in reads(reduction.value) if r.buffer in buffers]
    if not read or any(r.buffer in buffers for c in s.mask for r in reads(c)):
        return None
    whole = replace(s, outputs=(*s.outputs, *reduction.dims), value=reduction.value, mask=())
    steps = changes(whole, buffers)
    if steps is None or not all(c.tile.of_lanes for c in steps):
        return None
    stores = [_store(s, reduction, c) for c in steps]
    return None if None in stores else [x for x in stores if x is not None]


def _reduced(s: Statement) -> Reduce | None:
    """What the statement adds up, or takes the largest of, to what its destination has."""
    match s.value:
        case Apply(node=ir.Binary(op=op), args=(a, b)):
            pairs: tuple[tuple[Tensor, Tensor], ...] = ((a, b), (b, a))
            for old, new in pairs:
                if isinstance(new, Reduce) and new.op is op and _there(old, s) == s.dest:
                    return new
    return None


def _there(x: Tensor, s: Statement) -> Tensor:
    """What is read where the statement stores anything."""
    return x.value if isinstance(x, Masked) and x.condition in s.mask else x


def _store(s: Statement, reduction: Reduce, change: Change) -> ir.Store | None:
    rows = _rows(s, reduction, change.at)
    if rows is None:
        return None
    points = change.at
    for name, tile in change.tiles:
        points = given(points, name, tile.load())
    one = ir.VectorReduce(reduction.op, value(change.value, points), prod(rows.extents))
    conditions = [value(c, rows) for c in s.mask]
    inside = exists(tuple(d for d, _ in s.dest.strides), rows)
    conditions += [] if inside is None else [inside]
    mask = and_(*conditions) if conditions else None
    old = ir.Load(s.dest.buffer, address(s.dest, rows), one.type, mask)
    return ir.Store(s.dest.buffer, old.index, binary(reduction.op, old, one), mask)


def _rows(s: Statement, reduction: Reduce, at: Points) -> Points | None:
    """Where the rows of a tile are among the outputs; None where a run of its lanes is no row."""
    for count in range(1, len(at.extents)):
        inner = all(not any(_place(d, at).steps[count:]) for d in s.outputs)
        outer = all(not any(_place(d, at).steps[:count]) for d in reduction.dims)
        if inner and outer:
            places = {d: _place(d, at) for d in s.outputs}
            cut = {d: replace(p, steps=p.steps[:count]) for d, p in places.items()}
            return Points(at.extents[:count], cut)
    return None


def _place(d: Dim, at: Points) -> Place:
    return at.places.get(d) or Place(ir.const_index(0), (0,) * len(at.extents), d.extent)
