"""The order in which an instruction has the columns of its sums, so that each lane has of them what it
wants of the factor that they become.

    m16n8k32 of bytes: a lane has columns 2 q, 2 q + 1 of 8 sums, and wants 4 q .. 4 q + 3 of a factor
    two of them side by side, whose columns 2 q, 2 q + 1, 2 q + 8, 2 q + 9 are 4 q .. 4 q + 3: it has them

Columns of the second factor change places with those of the sums. That factor is loaded in another order,
which takes no instruction more, and nothing moves between lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, floordiv, mod, mul
from hbc.ir.lang.instruction import Columns, Instruction, Kind

Order = tuple[int, ...]
"""Which column each column of the instruction is."""
Bit = tuple[str, int]
"""Of the number of a lane, or of an element: its name, and which one."""


def column_order(have: Sequence[int], wanted: Sequence[int], columns: int) -> Order | None:
    """`have`, `wanted`: the lane of each element of the sums, row after row. None where the columns of no
    order have the lanes that are wanted."""
    own = [tuple(have[j::columns]) for j in range(columns)]
    left: dict[tuple[int, ...], list[int]] = {}
    for j in range(columns):
        left.setdefault(tuple(wanted[j::columns]), []).append(j)
    if any(own.count(lanes) != len(left.get(lanes, ())) for lanes in set(own)):
        return None
    order = tuple(left[lanes].pop(0) for lanes in own)
    return order if _is_linear(order) else None


def _is_linear(order: Order) -> bool:
    """Whether the bits of a column are those of the instruction's column in another order."""
    made = [0]
    while len(made) < len(order):
        made += [k + order[len(made)] for k in made]
    return tuple(made) == order


@cache
def with_columns(i: Instruction, order: Order) -> Instruction | None:
    """The instruction with its columns in this order; None where nothing says which lane holds what, or
    where the second factor lies in shared memory as the instruction wants it."""
    found = _columns(i)
    if found is None:
        return None
    fragments = list(i.fragments)
    for operand, dim in found:
        moved = _moved(i, operand, dim, order)
        if moved is None:
            return None
        indices = list(fragments[operand])
        indices[dim] = moved
        fragments[operand] = tuple(indices)
    # The order is that of its powers of two.
    name = "_".join([i.name, "columns", *(str(order[1 << b]) for b in range(_bits(len(order))))])
    columns = Columns(i.name, order)
    return replace(i, name=name, fragments=tuple(fragments), columns=columns)


def _columns(i: Instruction) -> list[tuple[int, int]] | None:
    """The operands that have the columns of the sums, and as which dimension."""
    rows = [r for r in i.rows if r.kind is Kind.J]
    if len(rows) != 1 or not i.fragments or any(r.kind is Kind.BATCH for r in i.rows):
        return None
    found = []
    for operand, stride in enumerate(rows[0].strides):
        if const_value(stride) == 0:
            continue
        if operand in i.shared or len(i.fragments[operand]) != 2:
            return None
        found.append((operand, 1 if const_value(stride) == 1 else 0))
    return found


def _moved(i: Instruction, operand: int, dim: int, order: Order) -> ir.Expr | None:
    """The index of the columns in the new order, over the lane and the element."""
    import numpy as np

    from hbc.ir.algebra.evaluate import evaluated
    from hbc.ir.meaning.fragment_layout import ELEMENT, LANE, elements_of

    lanes, count = elements_of(i, operand).shape
    values = {LANE: np.arange(lanes)[:, None], ELEMENT: np.arange(count)[None, :]}
    column = np.broadcast_to(evaluated(i.fragments[operand][dim], values), (lanes, count))
    if column.max() >= len(order):
        return None
    made = np.array(order)[column]
    sizes = {LANE: _bits(lanes), ELEMENT: _bits(count)}
    ways = {int(made[1 << b, 0]): (LANE, b) for b in range(sizes[LANE])}
    ways |= {int(made[0, 1 << b]): (ELEMENT, b) for b in range(sizes[ELEMENT])}
    bits = [ways.get(1 << b) for b in range(_bits(len(order)))]
    index = _of_bits([b for b in bits if b is not None], sizes)
    again = np.broadcast_to(evaluated(index, values), (lanes, count))
    return index if None not in bits and (again == made).all() else None


def _of_bits(bits: Sequence[Bit], sizes: Mapping[str, int]) -> ir.Expr:
    """The number that these are the bits of, the lowest first."""
    index: ir.Expr = ir.const_index(0)
    b = 0
    while b < len(bits):
        (name, first), width = bits[b], 1
        while b + width < len(bits) and bits[b + width] == (name, first + width):
            width += 1
        digit = floordiv(ir.Var(name), 1 << first) if first else ir.Var(name)
        if first + width < sizes[name]:
            digit = mod(digit, 1 << width)
        index = add(index, mul(digit, 1 << b))
        b += width
    return index


def _bits(n: int) -> int:
    return n.bit_length() - 1
