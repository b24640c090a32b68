"""What follows from an instruction's contraction table: operand shapes, layouts, legal sizes, work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from math import prod

from hbc.ir.algebra.layout import Dim, Layout
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction, Kind, Row, Size
from hbc.ir.lang.walk import free_variables, substitute

Sizes = Mapping[str, int]


def row_stride(operand: str) -> str:
    """The name of the stride, in elements, between the rows of an operand in a place of rows."""
    return f"{operand}_row"


def at_sizes(e: ir.Expr, values: Sizes) -> ir.Expr:
    """An extent or stride with sizes (and row strides) given."""
    return canonical(substitute(e, {name: ir.const_index(v) for name, v in values.items()}))


def number(e: ir.Expr, values: Sizes) -> int:
    """An extent or stride as a number."""
    return int(e.value) if isinstance(e, ir.Const) else _number(e, tuple(values.items()))


@cache
def _number(e: ir.Expr, values: tuple[tuple[str, int], ...]) -> int:
    value = const_value(at_sizes(e, dict(values)))
    if value is None:
        raise InternalError(f"contraction: {e} is no number with {dict(values)}")
    return int(value)


def largest(i: Instruction) -> dict[str, int]:
    """All sizes at their largest."""
    return {s.name: s.most for s in i.sizes}


def corners(sizes: tuple[Size, ...]) -> Iterator[dict[str, int]]:
    """The sizes at their least and largest, in every combination; the largest last."""
    for values in product(*(dict.fromkeys((s.step, s.most)) for s in sizes)):
        yield {s.name: v for s, v in zip(sizes, values, strict=True)}


def refused_sizes(i: Instruction, sizes: Sizes) -> str | None:
    """Why the instruction cannot have these sizes, or None."""
    for s in i.sizes:
        value = sizes.get(s.name)
        if value is None:
            return f"`{s.name}` is not given"
        if not 0 < value <= s.most:
            return f"`{s.name}` is {value}, and `{i.name}` takes 1 to {s.most}"
        if value % s.step:
            return f"`{s.name}` is {value}, and `{i.name}` takes multiples of {s.step}"
    return None


def shape(i: Instruction, operand: int, sizes: Sizes) -> tuple[int, ...]:
    """The extents of an operand."""
    return _shapes(i, tuple(sizes.items()))[operand]


@cache
def _shapes(i: Instruction, sizes: tuple[tuple[str, int], ...]) -> tuple[tuple[int, ...], ...]:
    values = dict(sizes)
    return tuple(tuple(number(e, values) for e in o.extents) for o in i.operands)


def extents(i: Instruction, sizes: Sizes) -> tuple[int, ...]:
    """The extents of the table's rows."""
    return _extents(i, tuple(sizes.items()))


@cache
def _extents(i: Instruction, sizes: tuple[tuple[str, int], ...]) -> tuple[int, ...]:
    values = dict(sizes)
    return tuple(number(r.extent, values) for r in i.rows)


def extent_range(i: Instruction, row: Row) -> tuple[int, int, int]:
    """The least and the largest extent of a row, and the step between them."""
    return _extent_ranges(i)[i.rows.index(row)]


@cache
def _extent_ranges(i: Instruction) -> tuple[tuple[int, int, int], ...]:
    ranges = []
    for row in i.rows:
        extents = sorted({number(row.extent, sizes) for sizes in corners(i.sizes)})
        step = extents[0] if free_variables(row.extent) else 1  # the least size is one step
        ranges.append((extents[0], extents[-1], step))
    return tuple(ranges)


def dense_rows(i: Instruction, sizes: Sizes) -> dict[str, int]:
    """The row strides of operands that lie in memory without gaps."""
    return {row_stride(o.name): prod(shape(i, n, sizes)[1:]) for n, o in enumerate(i.operands)}


def strides(i: Instruction, operand: int, sizes: Sizes) -> tuple[int, ...]:
    """The strides, in elements, with which the table's rows move an operand that lies densely."""
    return _strides(i, tuple(sizes.items()))[operand]


@cache
def _strides(i: Instruction, sizes: tuple[tuple[str, int], ...]) -> tuple[tuple[int, ...], ...]:
    values = {**dict(sizes), **dense_rows(i, dict(sizes))}
    operands = range(len(i.operands))
    return tuple(tuple(number(r.strides[n], values) for r in i.rows) for n in operands)


def operand_layout(i: Instruction, operand: int, sizes: Sizes) -> Layout:
    """Where the operand's elements lie, one dim for each row of the table, from a base of 0. Row strides
    stay symbolic (`row_stride`), as the code that loads a tile may choose them."""
    dims: list[Dim] = [
        (number(r.extent, sizes), at_sizes(r.strides[operand], sizes)) for r in i.rows
    ]
    return Layout(ir.const_index(0), tuple(dims))


@cache
def commutes(i: Instruction) -> bool:
    """Whether its two factors may be given in either order: they have the same elements, moved alike."""
    if len(i.factors) != 2:
        return False
    first, second = i.factors
    a, b = i.operands[first], i.operands[second]
    alike = (a.element, a.extents, a.function) == (b.element, b.extents, b.function)
    return alike and all(row.strides[first] == row.strides[second] for row in i.rows)


def multiplications(i: Instruction, sizes: Sizes) -> int:
    """Products that one instruction computes."""
    return prod(extents(i, sizes))


def terms(i: Instruction, sizes: Sizes) -> int:
    """Products that are summed into one element."""
    summed = (Kind.K, Kind.SUM)
    return prod(n for n, r in zip(extents(i, sizes), i.rows, strict=True) if r.kind in summed)
