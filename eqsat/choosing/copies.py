"""Copies of a store, as unrolled loops leave them, as one store over more lanes.

    acc[ramp(0, 1, 4)] = A.i32x4[ramp(i * s, 1, 4)]
    acc[ramp(4, 1, 4)] = A.i32x4[ramp(i * s + s, 1, 4)]
->  acc[ramp(0, 1, 8)] = A.i32x8[ramp(ramp(i * s, 1, 4), x4(s), 2)]

Copies differ in the places of their arrays alone, and these are evenly apart along one loop or several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.operands.marks import marked
from hbc.eqsat.tensors.points import address, value, whole_box
from hbc.eqsat.tensors.tensor import (
    Dim,
    Dims,
    NotTensorError,
    Read,
    Tensor,
    box,
    map_parts,
    tensor,
)
from hbc.ir.algebra.linear import Linear, linear, minus, plus, to_expr
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import block, map_stmt, nodes_of
from hbc.ir.vectors.lane_offsets import constant_lanes

MOST_LOOPS = 3  # that copies come from
Strides = tuple[tuple[Dim, ir.Expr], ...]


@record
class Copy:
    """A store with marks for places, what these stand for, and the elements that it stores to."""

    store: ir.Store
    alike: ir.Store
    places: Mapping[str, ir.Expr]
    elements: frozenset[int]


def with_joined(s: ir.Stmt, buffer: str) -> ir.Stmt:
    """The statement with the copies of stores to the buffer that follow each other as one."""
    new = map_stmt(s, lambda e: e, lambda child: with_joined(child, buffer))
    if not isinstance(new, ir.Block):
        return new
    body: list[ir.Stmt] = []
    run: list[Copy] = []
    for child in new.body:
        copy = _copy(child, buffer)
        if run and (copy is None or not _belongs(copy, run)):
            body += _joined(run)
            run = []
        if copy is None:
            body.append(child)
        else:
            run.append(copy)
    return block(*body, *(_joined(run) if run else ()))


def _copy(s: ir.Stmt, buffer: str) -> Copy | None:
    """A store to known elements of the buffer, of which it reads no others."""
    if not isinstance(s, ir.Store) or s.buffer != buffer:
        return None
    elements = constant_lanes(s.index)
    own = (n for n in nodes_of(s.value, ir.Load) if n.buffer == buffer)
    if elements is None or any(n.index != s.index for n in own):
        return None
    return Copy(s, *marked(s), frozenset(elements))


def _belongs(copy: Copy, run: Sequence[Copy]) -> bool:
    """Whether it does the same as those before it, to other elements."""
    if copy.alike != run[0].alike or copy.places.keys() != run[0].places.keys():
        return False
    return all(copy.elements.isdisjoint(c.elements) for c in run)


def _joined(run: Sequence[Copy]) -> list[ir.Stmt]:
    """One store, or those that there are where they are not evenly apart."""
    separate: list[ir.Stmt] = [c.store for c in run]
    if len(run) == 1:
        return separate
    places = {name: tuple(linear(c.places[name]) for c in run) for name in run[0].places}
    for extents in _nests(len(run), MOST_LOOPS):
        strides = {name: _strides(at, extents) for name, at in places.items()}
        if None not in strides.values():
            loops = tuple(Dim(f"copy{n}", extent) for n, extent in enumerate(extents))
            moves = {
                name: (
                    to_expr(at[0]),
                    tuple(zip(loops, map(to_expr, strides[name] or ()), strict=True)),
                )
                for name, at in places.items()
            }
            try:
                joined = _over(run[0].alike, loops, moves)
                return [replace(joined, span=run[0].store.span)]
            except NotTensorError:
                return separate
    return separate


def _nests(count: int, most: int) -> Iterator[tuple[int, ...]]:
    """The extents of loops that go around so often in all, at first of few loops."""
    if most == 1:
        yield (count,)
        return
    yield from _nests(count, most - 1)
    for inner in range(2, count):
        if count % inner == 0:
            deeper = (n for n in _nests(count // inner, most - 1) if len(n) == most - 1)
            yield from ((*outer, inner) for outer in deeper)


def _strides(at: Sequence[Linear], extents: Sequence[int]) -> tuple[Linear, ...] | None:
    """How far a place moves with each loop; None where that is not always the same."""
    strides: list[Linear] = []
    inner = 1
    for extent in reversed(extents):
        strides.insert(0, minus(at[inner], at[0]))
        inner *= extent
    for n, place in enumerate(at):
        expected, left = at[0], n
        for extent, stride in zip(reversed(extents), reversed(strides), strict=True):
            left, step = divmod(left, extent)
            expected = plus(expected, stride, step)
        if expected != place:
            return None
    return tuple(strides)


def _over(s: ir.Store, loops: Dims, moves: Mapping[str, tuple[ir.Expr, Strides]]) -> ir.Store:
    """A marked store over the loops around its own lanes. Raises NotTensorError."""
    dest = ir.Load(s.buffer, s.index, s.value.type)
    own = box(dest, s.value) if s.mask is None else box(dest, s.value, s.mask)
    at = whole_box((*loops, *own))

    def moved(x: Tensor) -> Tensor:
        match x:
            case Read(base=ir.Var(name=name)) if name in moves:
                base, strides = moves[name]
                kept = tuple((d, stride) for d, stride in strides if stride != ir.const_index(0))
                return replace(x, base=base, strides=(*kept, *x.strides))
            case _:
                return map_parts(x, moved)

    where = moved(tensor(dest, own))
    assert isinstance(where, Read)
    mask = None if s.mask is None else value(moved(tensor(s.mask, own)), at)
    return ir.Store(s.buffer, address(where, at), value(moved(tensor(s.value, own)), at), mask)
