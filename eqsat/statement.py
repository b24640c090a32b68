"""Stores as tensor statements: the box of their lanes, and what is read and written over it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from hbc.eqsat.choice import Statement
from hbc.eqsat.plan import SUMMED
from hbc.eqsat.tensor import (
    Apply,
    Dim,
    Dims,
    Masked,
    NotTensorError,
    Read,
    Tensor,
    box,
    conjuncts,
    parts,
    reads,
    tensor,
)
from hbc.eqsat.unmask import by_address
from hbc.ir.contraction import extent_range
from hbc.ir.instruction import Instruction
from hbc.ir.nodes import Expr, Load, Op, Store, VectorReduce
from hbc.ir.walk import nodes

Zeros = Mapping[str, frozenset[Hashable]]
"""All local buffers, and the conditions (`unmask.by_address`) where they are 0 unless these hold."""


def statement(
    s: Store, instructions: Sequence[Instruction], relaxed: bool, zeros: Zeros
) -> Statement:
    """The store as a tensor statement. `relaxed`: it may write where its mask does not hold. Raises
    NotTensorError."""
    return _over(s, natural(_box(s), longest(instructions)), relaxed, zeros)


def statements(
    s: Store, instructions: Sequence[Instruction], relaxed: bool, zeros: Zeros
) -> tuple[Statement, ...]:
    """The store as `statement`, then with its dimensions cut to shorter extents of instructions: 256
    outputs of a row are 8 x 32, but also 16 x 16 and 32 x 8. Raises NotTensorError."""
    dims, rows = _box(s), longest(instructions)
    cuts = dict.fromkeys(natural(dims, rows[n:]) for n in range(len(rows) or 1))
    return tuple(_over(s, cut, relaxed, zeros) for cut in cuts if len(cut) >= len(next(iter(cuts))))


def uncut(s: Store, relaxed: bool, zeros: Zeros, known: Statement) -> Statement:
    """The store over the coarsest box; `known`: over some. Raises NotTensorError."""
    dims = natural(_box(s), ())
    return known if dims == known.outputs else _over(s, dims, relaxed, zeros)


def _box(s: Store) -> Dims:
    dest = Load(s.buffer, s.index, s.value.type)
    return box(dest, s.value) if s.mask is None else box(dest, s.value, s.mask)


def _over(s: Store, dims: Dims, relaxed: bool, zeros: Zeros) -> Statement:
    dest = Load(s.buffer, s.index, s.value.type)
    where, value = tensor(dest, dims), tensor(s.value, dims)
    if not isinstance(where, Read):
        raise NotTensorError(s.index, "it is one element, and no vector")
    live = () if s.mask is None else conjuncts(tensor(s.mask, dims))
    known = tuple(_zeros(value, zeros))
    local = tuple(r for r in dict.fromkeys(reads(value)) if r.buffer in zeros)
    if relaxed:
        return Statement(dims, where, without_masks(value, where, live), (), live, known, local)
    return Statement(dims, where, value, live, live, known, local)


def _zeros(x: Tensor, zeros: Zeros) -> Iterator[tuple[Tensor, Tensor]]:
    """The conditions in `x` with the arrays in it that are 0 where they do not hold."""
    conditions = list(dict.fromkeys(_conditions(x)))
    for r in dict.fromkeys(reads(x)):
        known = zeros.get(r.buffer, frozenset())
        yield from ((c, r) for c in conditions if known and by_address(c, r) in known)


def _conditions(x: Tensor) -> Iterator[Tensor]:
    if isinstance(x, Masked):
        yield x.condition
    for p in parts(x):
        yield from _conditions(p)


def longest(instructions: Sequence[Instruction]) -> tuple[int, ...]:
    """The longest extents of the instructions' rows that are not summed, the greatest first."""
    rows = (
        extent_range(i, row)[1] for i in instructions for row in i.rows if row.kind not in SUMMED
    )
    return tuple(sorted(set(rows), reverse=True))


def natural(dims: Dims, rows: Sequence[int]) -> Dims:
    """The dimensions cut to the first of the rows' extents that divide them."""
    found: list[int] = []
    for d in dims:
        inner = next((n for n in rows if 1 < n <= d.extent and d.extent % n == 0), d.extent)
        found += [d.extent // inner, inner] if inner < d.extent else [d.extent]
    return tuple(Dim(f"d{n}", extent) for n, extent in enumerate(found))


def without_masks(x: Tensor, dest: Read, dead: tuple[Tensor, ...]) -> Tensor:
    """The value with the destination read also where that makes no difference."""
    match x:
        case Masked(condition=c, value=v):
            inner = without_masks(v, dest, dead)
            return inner if inner == dest and c in dead else Masked(c, inner)
        case Apply(node=node, args=args):
            return Apply(node, tuple(without_masks(a, dest, dead) for a in args))
        case _:
            return x


def is_product(e: Expr) -> bool:
    """Whether a sum over lanes is part of the expression."""
    return any(isinstance(x, VectorReduce) and x.op is Op.ADD and x.lanes > 1 for x in nodes(e))
