"""Sums of all lanes of a vector, as a matrix-vector product has them, in a register of partial sums.

    allocate a: i32[1] in registers {                 allocate a: i32[1] in registers {
                                                          allocate a_sums: i32[16] in registers {
        a[0] = 0                                              a[0] = 0; a_sums[..] = x16(0)
        for k { a[0] = a[0] +                 ->              for k { a_sums[..] = a_sums[..] +
            reduce<+>(64 products, 1) }                           reduce<+>(64 products, 16) }
        O[i] = a[0]                                           O[i] = a[0] + reduce<+>(a_sums[..], 1)

Instructions add to vectors. So the loop adds to as many sums as an instruction has, and they are added
up where the value is read. At any time the sum is `a` and its partial sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod
from operator import mul

from hbc.eqsat.choosing.miss import NO_SHAPE, Miss
from hbc.eqsat.choosing.near_miss import near_miss, not_a_tensor
from hbc.eqsat.tensors.plan import SUMMED
from hbc.eqsat.tensors.points import Place, Points, value
from hbc.eqsat.tensors.tensor import Dim, NotTensorError, Reduce, box, tensor
from hbc.eqsat.tiles.agreement import MappingsOf
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast, const, const_value
from hbc.ir.lang.build import mul as times
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import Memory, Type
from hbc.ir.lang.walk import block, map_children, map_stmt, statements
from hbc.ir.meaning.contraction import extents, largest, shape

"""What is cheapest for each product that sums in the buffer, by one of these instructions."""


class _CannotError(Exception):
    """An access to the buffer is not to adjacent places, or under a mask."""


@record
class Partial:
    """A register of `lanes` sums, to each of which `terms` products are added at once."""

    lanes: int
    terms: int


def summed_lanes(s: ir.Store) -> ir.Expr | None:
    """The lanes of a vector all of which a store adds to the element that it stores to."""
    match s.value:
        case ir.Binary(op=ir.Op.ADD, a=a, b=b) if s.mask is None and s.atomic is None:
            for old, new in ((a, b), (b, a)):
                match old, new:
                    case (
                        ir.Load(buffer=s.buffer, index=s.index, mask=None),
                        ir.VectorReduce(op=ir.Op.ADD, value=x, lanes=1),
                    ) if x.type.lanes > 1:
                        return x
    return None


def partial_of(i: Instruction) -> Partial | None:
    """The sums of an instruction that has them in one row."""
    sizes = largest(i)
    rows = [n for n in shape(i, i.accumulator, sizes) if n > 1]
    if i.place.memory is not Memory.REGISTER or len(rows) != 1:
        return None
    summed = (n for row, n in zip(i.rows, extents(i, sizes), strict=True) if row.kind in SUMMED)
    return Partial(rows[0], prod(summed))


def in_partial_sums(
    a: ir.Allocate,
    instructions: Sequence[Instruction],
    mappings_of: MappingsOf,
    fresh: Callable[[str], str],
) -> ir.Allocate:
    """The buffer with partial sums beside it, where an instruction does all that adds to them."""
    sums = [s for s in statements(a.body) if isinstance(s, ir.Store) and s.buffer == a.buffer]
    if not isinstance(a.extent, ir.Const) or not any(summed_lanes(s) is not None for s in sums):
        return a
    least, best = float("inf"), None
    for i in instructions:
        form = partial_of(i)
        if form is None or i.operands[i.accumulator].element != a.element:
            continue
        try:
            new = _beside(a, form, f"{a.buffer}_sums")
        except (_CannotError, NotTensorError):
            continue
        choices = mappings_of(new, (i,))
        if not choices or None in choices:
            continue
        cycles = sum(mapped[1].cycles for mapped in choices if mapped is not None)
        if cycles < least:
            least, best = cycles, form
    if best is None:
        return a
    return replace(a, body=_beside(a, best, fresh(f"{a.buffer}_sums")))


def _beside(a: ir.Allocate, form: Partial, name: str) -> ir.Allocate:
    """The buffer of partial sums, with what the scope of `a` does then. Raises _CannotError,
    NotTensorError."""
    assert isinstance(a.extent, ir.Const)
    extent = ir.const_index(int(a.extent.value) * form.lanes)
    body = _rewritten(a.body, a, form, name)
    return ir.Allocate(
        name, a.element, extent, Memory.REGISTER, body, f"partial sums of {a.buffer}"
    )


def _rewritten(s: ir.Stmt, a: ir.Allocate, form: Partial, name: str) -> ir.Stmt:
    def read(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Load) or e.buffer != a.buffer:
            return map_children(e, read)
        lanes = e.type.lanes
        sums = _sums(e.index, lanes, a, form, name)
        sums = replace(sums, mask=_for_each(e.mask, form))
        return add(e, ir.VectorReduce(ir.Op.ADD, sums, lanes))

    if not isinstance(s, ir.Store) or s.buffer != a.buffer:
        return map_stmt(s, read, lambda child: _rewritten(child, a, form, name))
    lanes = summed_lanes(s)
    if lanes is not None:
        return _added(s, lanes, a, form, name)
    if s.atomic is not None:
        raise _CannotError
    at = _sums(s.index, s.value.type.lanes, a, form, name)
    zero = broadcast(const(0, a.element), at.type.lanes)
    cleared = ir.Store(name, at.index, zero, _for_each(s.mask, form), s.span)
    return block(replace(s, value=read(s.value)), cleared)


def _for_each(mask: ir.Expr | None, form: Partial) -> ir.Expr | None:
    """The mask of elements as one of their partial sums."""
    if mask is None:
        return None
    dims = box(mask)
    lanes = tuple(d.extent for d in dims)
    places = {
        d: Place(ir.const_index(0), tuple(int(n == own) for n in range(len(dims) + 1)), d.extent)
        for own, d in enumerate(dims)
    }
    return value(tensor(mask, dims), Points((*lanes, form.lanes), places))


def _sums(index: ir.Expr, lanes: int, a: ir.Allocate, form: Partial, name: str) -> ir.Load:
    """The partial sums of the elements at an index."""
    match index:
        case ir.Ramp(base=base, stride=stride, lanes=n) if n == lanes and const_value(stride) == 1:
            pass
        case _ if lanes == 1:
            base = index
        case _:
            raise _CannotError
    count = lanes * form.lanes
    first = times(base, form.lanes)
    return ir.Load(name, ir.Ramp(first, ir.const_index(1), count), Type(a.element, count))


def _added(s: ir.Store, x: ir.Expr, a: ir.Allocate, form: Partial, name: str) -> ir.Store:
    """The statement on the partial sums."""
    if x.type.lanes % (form.lanes * form.terms):
        raise _CannotError
    old = _sums(s.index, 1, a, form, name)
    new = add(old, ir.VectorReduce(ir.Op.ADD, _in_turn(x, form), form.lanes))
    return ir.Store(name, old.index, new, span=s.span)


def _in_turn(x: ir.Expr, form: Partial) -> ir.Expr:
    """The lanes in the order in which each sum takes its `terms`, then the next in the following
    register."""
    steps = x.type.lanes // (form.lanes * form.terms)
    if steps == 1:
        return x
    if not _ends(d.extent for d in box(x)) <= _ends((steps, form.lanes, form.terms)):
        raise _CannotError
    dims = [(Dim("d0", steps), 1), (Dim("d1", form.lanes), 0), (Dim("d2", form.terms), 2)]
    places = {
        d: Place(ir.const_index(0), tuple(int(n == lane) for n in range(3)), d.extent)
        for d, lane in dims
        if d.extent > 1
    }
    return value(tensor(x, tuple(places)), Points((form.lanes, steps, form.terms), places))


def _ends(sides: Iterable[int]) -> set[int]:
    """After how many lanes the sides of a box end, the innermost first."""
    return set(accumulate(reversed(tuple(sides)), mul)) - {1}


def why_not(s: ir.Store, instructions: Sequence[Instruction]) -> Miss:
    """Why the lanes that a store adds up are not in partial sums."""
    lanes = summed_lanes(s)
    assert lanes is not None
    forms = {i.name: form for i in instructions if (form := partial_of(i)) is not None}
    try:
        dims = tuple(Dim(f"r{n}", d.extent, True) for n, d in enumerate(box(lanes)))
        miss = near_miss(Reduce(ir.Op.ADD, dims, tensor(lanes, dims)), instructions)
    except NotTensorError as why:
        return not_a_tensor(why, s, instructions)
    form = forms.get(miss.nearest)
    if form is None or miss.condition != NO_SHAPE:
        return miss
    whole = form.lanes * form.terms
    if lanes.type.lanes % whole:
        return Miss(
            miss.nearest, f"{lanes.type.lanes} lanes are summed to one number, and "
            f"`{miss.nearest}` sums {whole} products to {form.lanes}",
            f"vectorize {whole} steps at once, or a multiple",
        )  # fmt: skip
    return Miss(
        miss.nearest, "all lanes are summed to one number, which is not kept beside its partial sums",
        "`compute_at` the loop around the sum, and `store_in(registers)`",
    )  # fmt: skip
