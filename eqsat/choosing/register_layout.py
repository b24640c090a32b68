"""Sums in registers in the order in which an instruction holds them.

    acc: 4 rows of 16, one after the other   ->   acc: blocks of 2 x 2, for a product of 2 x 8 by 8 x 2

A buffer in registers is accessed at constant places alone, so its elements may have any order. That of
its rows suits instructions whose sums are part of one row. Where an instruction whose sums are a block
of several rows is cheaper, they get its order: stores fill blocks, and rows are picked from several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbc.eqsat.choosing.copies import with_joined
from hbc.eqsat.operands.operand import SHUFFLE
from hbc.eqsat.operands.perform import accumulated, output_points
from hbc.eqsat.operands.statement import is_product
from hbc.eqsat.tensors.points import address, exists, given, value
from hbc.eqsat.tensors.tensor import Dims, NotTensorError, Read, box, conjuncts, reads, tensor
from hbc.eqsat.tiles.agreement import Mapped, MappingsOf
from hbc.eqsat.tiles.tiles import Tile, points_of
from hbc.ir.algebra.layout import Layout, to_index
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import map_children, map_stmt, nodes
from hbc.ir.meaning.contraction import largest, shape
from hbc.ir.vectors.lane_offsets import constant_lanes

"""What is cheapest for each product that sums in the buffer; only one of these instructions does it,
where there are any."""


class _CannotError(Exception):
    """An access to the buffer does not take or fill whole registers in the other order."""


@record
class Order:
    """`elements`: of a buffer, in their new order; `places`: the new place of each. `lanes`: of one
    register."""

    buffer: str
    elements: tuple[int, ...]
    places: tuple[int, ...]
    lanes: int


def of_blocks(instructions: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Those whose sums are several rows in one register."""
    in_blocks = []
    for i in instructions:
        rows = [n for n in shape(i, i.accumulator, largest(i)) if n > 1]
        if i.place.memory is Memory.REGISTER and len(rows) > 1:
            in_blocks.append(i)
    return tuple(in_blocks)


def laid_out(s: ir.Allocate, blocks: Sequence[Instruction], mappings_of: MappingsOf) -> ir.Allocate:
    """The buffer in the order that is cheapest for the products in it."""
    if (
        not blocks
        or not isinstance(s.extent, ir.Const)
        or not any(_sums(n, s) for n in nodes(s.body))
    ):
        return s
    whole = replace(s, body=with_joined(s.body, s.buffer))
    least, best = _cycles(mappings_of(whole, ())), s
    for i in blocks:
        first = next((mapped for mapped in mappings_of(whole, (i,)) if mapped is not None), None)
        order = None if first is None else _order(first, s.buffer, int(s.extent.value))
        if order is None:
            continue
        try:
            new = replace(s, body=_reordered(whole.body, order))
        except (_CannotError, NotTensorError):
            continue
        cycles = _cycles(mappings_of(new, ())) + _picking(s, i, int(s.extent.value))
        if cycles < least:
            least, best = cycles, new
    return best


def _sums(n: object, s: ir.Allocate) -> bool:
    return isinstance(n, ir.Store) and n.buffer == s.buffer and is_product(n.value)


def _cycles(choices: Sequence[Mapped | None]) -> float:
    return sum(float("inf") if mapped is None else mapped[1].cycles for mapped in choices)


def _picking(s: ir.Allocate, i: Instruction, extent: int) -> float:
    """Cycles for picking rows from registers; nothing where many steps of a sum come before."""
    if any(isinstance(n, ir.For) and any(_sums(m, s) for m in nodes(n)) for n in nodes(s.body)):
        return 0.0
    return 2 * SHUFFLE * extent * s.element.bytes / i.place.row_bytes


def _order(mapped: Mapped, buffer: str, extent: int) -> Order | None:
    """In which the accumulators of a choice are one after the other; None where they are already, or
    where they do not cover the buffer once."""
    (statement, choice), elements, lanes = mapped, list[int](), 1
    for at in output_points(choice.plan):
        where = accumulated(choice.plan, at)
        starts = constant_lanes(address(statement.dest, where))
        if starts is None or exists(tuple(d for d, _ in statement.dest.strides), where) is not None:
            return None
        elements += starts
        lanes = len(starts)
    if sorted(elements) != list(range(extent)) or elements == list(range(extent)):
        return None
    places = sorted(range(extent), key=lambda place: elements[place])
    return Order(buffer, tuple(elements), tuple(places), lanes)


def _reordered(s: ir.Stmt, order: Order, mask: ir.Expr | None = None) -> ir.Stmt:
    """The statement on the buffer in another order. Raises _CannotError, NotTensorError."""
    if isinstance(s, ir.Store):
        if s.buffer == order.buffer:
            return _stored(s, order)
        mask = s.mask
    return map_stmt(s, lambda e: _read(e, order, mask), lambda child: _reordered(child, order))


def _read(e: ir.Expr, order: Order, mask: ir.Expr | None) -> ir.Expr:
    """`e` with what it reads of the buffer; in registers that may be more than is stored by `mask`."""
    if not isinstance(e, ir.Load) or e.buffer != order.buffer:
        return map_children(e, lambda child: _read(child, order, mask))
    elements = constant_lanes(e.index)
    if elements is None or len(elements) % order.lanes or e.mask not in (None, mask):
        raise _CannotError
    places = [order.places[n] for n in elements]
    dims = [(extent, ir.const_index(stride)) for extent, stride in loops_of(places)]
    return ir.Load(e.buffer, to_index(Layout(ir.const_index(places[0]), tuple(dims))), e.type)


def _stored(s: ir.Store, order: Order) -> ir.Store:
    """A store to the buffer that goes through its lanes in the new order."""
    elements = constant_lanes(s.index) or ()
    places = sorted(order.places[n] for n in elements)
    if not places or len(places) % order.lanes or places[-1] - places[0] != len(places) - 1:
        raise _CannotError
    dest = ir.Load(s.buffer, s.index, s.value.type)
    dims: Dims = box(dest, s.value) if s.mask is None else box(dest, s.value, s.mask)
    where, x = tensor(dest, dims), tensor(s.value, dims)
    assert isinstance(where, Read)
    wanted = order.elements[places[0] : places[-1] + 1]
    extents = tuple(extent for extent, _ in loops_of(wanted))
    rows = Tile(s.buffer, where.element, wanted, extents, 1, Memory.REGISTER)
    at = points_of(rows, where, dims)
    if at is None or any(r.buffer == s.buffer and r != where for r in reads(x)):
        raise _CannotError
    index = ir.Ramp(ir.const_index(places[0]), ir.const_index(1), len(places))
    at = given(at, s.buffer, ir.Load(s.buffer, index, s.value.type))
    mask = None
    if s.mask is not None:
        mask = and_(*(value(c, at) for c in conjuncts(tensor(s.mask, dims))))
    return replace(s, index=index, value=value(x, at), mask=mask)


def loops_of(numbers: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Extents and strides, outermost first, of a nest of loops that gives these numbers from the first
    on. Raises _CannotError where there is none."""
    if len(numbers) == 1:
        return ()
    stride = numbers[1] - numbers[0]
    run = next((n for n in range(1, len(numbers)) if numbers[n] != numbers[0] + n * stride), None)
    run = len(numbers) if run is None else run
    for extent in range(run, 1, -1):
        if len(numbers) % extent:
            continue
        starts = numbers[::extent]
        if all(n == starts[k // extent] + k % extent * stride for k, n in enumerate(numbers)):
            try:
                return (*loops_of(starts), (extent, stride))
            except _CannotError:
                continue
    raise _CannotError
