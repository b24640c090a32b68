"""Stores as tensor statements: the box of their lanes, and what is read and written over it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.plan import SUMMED
from hbc.eqsat.tensors.projected import with_projected
from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Dims,
    Masked,
    NotTensorError,
    Read,
    Reduce,
    Tensor,
    box,
    conjuncts,
    masked,
    parts,
    reads,
    strides_along,
    tensor,
)
from hbc.eqsat.tensors.unmask import by_address
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.contraction import extent_range

Zeros = Mapping[str, frozenset[Hashable]]
"""All local buffers, and the conditions (`unmask.by_address`) where they are 0 unless these hold."""


def statement(
    s: ir.Store,
    instructions: Sequence[Instruction],
    relaxed: bool,
    zeros: Zeros,
    alone: bool = False,
) -> Statement:
    """The store as a tensor statement. `relaxed`: it may write where its mask does not hold. `alone`:
    one element is a tile of one row and one column. Raises NotTensorError."""
    return _over(s, natural(_box(s), longest(instructions)), relaxed, zeros, alone)


def statements(
    s: ir.Store,
    instructions: Sequence[Instruction],
    relaxed: bool,
    zeros: Zeros,
    alone: bool = False,
) -> tuple[Statement, ...]:
    """The store as `statement`, then with its dimensions cut to shorter extents of instructions: 256
    outputs of a row are 8 x 32, but also 16 x 16 and 32 x 8. Raises NotTensorError."""
    dims, rows = _box(s), longest(instructions)
    cuts = dict.fromkeys(natural(dims, rows[n:]) for n in range(len(rows) or 1))
    whole = (cut for cut in cuts if len(cut) >= len(next(iter(cuts))))
    return tuple(_over(s, cut, relaxed, zeros, alone) for cut in whole)


def uncut(
    s: ir.Store, relaxed: bool, zeros: Zeros, first: Statement, alone: bool = False
) -> Statement:
    """The store over the coarsest box; `first`: over some. Raises NotTensorError."""
    dims = natural(_box(s), ())
    return first if dims == first.outputs else _over(s, dims, relaxed, zeros, alone)


def _box(s: ir.Store) -> Dims:
    dest = ir.Load(s.buffer, s.index, s.value.type)
    return box(dest, s.value) if s.mask is None else box(dest, s.value, s.mask)


def _over(s: ir.Store, dims: Dims, relaxed: bool, zeros: Zeros, alone: bool) -> Statement:
    dest = ir.Load(s.buffer, s.index, s.value.type)
    where, plain = tensor(dest, dims, alone), tensor(s.value, dims, alone)
    value = with_projected(plain)
    by_zeros = value != plain
    if not isinstance(where, Read):
        raise NotTensorError(s.index, "it is one element, and no vector")
    live = () if s.mask is None else conjuncts(tensor(s.mask, dims))
    zeros_of_value = tuple(_zeros(value, zeros))
    local = tuple(r for r in dict.fromkeys(reads(value)) if r.buffer in zeros)
    if relaxed:
        value = without_masks(value, where, live)
        return Statement(dims, where, value, (), live, zeros_of_value, local, by_zeros)
    return Statement(dims, where, value, live, live, zeros_of_value, local, by_zeros)


def _zeros(x: Tensor, zeros: Zeros) -> Iterator[tuple[Tensor, Tensor]]:
    """The conditions in `x` with the arrays in it that are 0 where they do not hold."""
    conditions = list(dict.fromkeys(_conditions(x)))
    for r in dict.fromkeys(reads(x)):
        conditions_of_zeros = zeros.get(r.buffer, frozenset())
        yield from (
            (c, r)
            for c in conditions
            if conditions_of_zeros and by_address(c, r) in conditions_of_zeros
        )


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
    extents: list[int] = []
    for d in dims:
        inner = next((n for n in rows if 1 < n <= d.extent and d.extent % n == 0), d.extent)
        extents += [d.extent // inner, inner] if inner < d.extent else [d.extent]
    return tuple(Dim(f"d{n}", extent) for n, extent in enumerate(extents))


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


def in_whole_tiles(s: Statement) -> Statement | None:
    """The statement for a destination that is only written whole: where its mask does not hold, it adds
    0. None where it does not add to what is there."""
    if not s.mask:
        return s
    value = _added(without_masks(s.value, s.dest, s.dead), s.dest, s.mask)
    return None if value is None else replace(s, value=value, mask=(), dead=())


def _added(x: Tensor, dest: Read, mask: tuple[Tensor, ...]) -> Tensor | None:
    """What is added to `dest`, under the mask."""
    if x == dest:
        return x
    if not (isinstance(x, Apply) and isinstance(x.node, ir.Binary) and x.node.op is ir.Op.ADD):
        return None
    inside = [dest in reads(a) for a in x.args]
    if sum(inside) != 1:
        return None
    args: list[Tensor] = []
    for a, goes_on in zip(x.args, inside, strict=True):
        added = _added(a, dest, mask) if goes_on else _under(mask, a)
        if added is None:
            return None
        args.append(added)
    return Apply(x.node, tuple(args))


def _under(mask: tuple[Tensor, ...], x: Tensor) -> Tensor:
    """`x` where the mask holds, else 0."""
    match x:
        case Apply(node=ir.Binary(op=ir.Op.ADD), args=args):
            return Apply(x.node, tuple(_under(mask, a) for a in args))
        case Reduce(op=ir.Op.ADD, value=value):
            return replace(x, value=_under(mask, value))
        case _:
            for c in mask:
                x = _where(c, x)
            return x


def _where(c: Tensor, x: Tensor) -> Tensor:
    """`x` where the condition holds, else 0: of a product the factor that moves with the condition."""
    if isinstance(x, Masked):
        return x if x.condition == c else Masked(x.condition, _where(c, x.value))
    moved = strides_along(c)
    if isinstance(x, Apply) and isinstance(x.node, ir.Binary) and x.node.op is ir.Op.MUL:
        alone = [_bare(None, a) for a in x.args]
        moving = [n for n, a in enumerate(alone) if strides_along(a) & moved] or [0]
        args = (_where(c, a) if n in moving else _bare(c, a) for n, a in enumerate(x.args))
        return Apply(x.node, tuple(args))
    return x if _vanishes(x, c) else masked(c, x)


def _bare(c: Tensor | None, x: Tensor) -> Tensor:
    """`x` also where the condition, or any, does not hold: where it is then multiplied by 0."""
    match x:
        case Masked(condition=own, value=inner):
            rest = _bare(c, inner)
            return rest if c is None or own == c else Masked(own, rest)
        case Apply(node=ir.Cast() as node, args=(a,)):
            return Apply(node, (_bare(c, a),))
        case _:
            return x


def _vanishes(x: Tensor, c: Tensor) -> bool:
    """Whether `x` is 0 anyway where the condition does not hold."""
    match x:
        case Masked(condition=own, value=inner):
            return own == c or _vanishes(inner, c)
        case Apply(node=ir.Binary(op=ir.Op.MUL) | ir.Cast(), args=args):
            return any(_vanishes(a, c) for a in args)
        case _:
            return False


def is_product(e: ir.Expr) -> bool:
    """Whether a sum over lanes is part of the expression."""
    return any(
        isinstance(x, ir.VectorReduce) and x.op is ir.Op.ADD and x.lanes > 1 for x in nodes(e)
    )
