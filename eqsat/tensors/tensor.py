"""Vector expressions as tensor expressions: what each value varies along, not how it is spelled.

    reduce<+>(f32x8192(A[ramp(x16(ramp(a, 1, 32)), x512(s), 16)]) * x16(f32x512(B[...])), 256)
->  sum over r0 in 32 of f32(A[i: s, r0: 1]) * f32(B[j: 1, r0: t])       i in 16, j in 16

The lanes of a statement are the points of a box; every Ramp and Broadcast, of an index or of a
value, becomes a stride along its sides (0 where there is none). A broadcast of a load and a load of
a broadcast are therefore one term. This is the table of a contraction, from which instructions are
chosen: one row per dimension, one column per operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import prod

from hbc.ir.algebra.layout import Layout, layout
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import interned, record
from hbc.ir.ground.tree import children_by_class, map_by_class
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, mul
from hbc.ir.lang.types import I64, DType
from hbc.ir.lang.walk import children, contains, map_children


@interned
class Dim:
    """One side of the box. Output dims are called d0, d1, ... from the outermost on; those that a
    reduction sums over r0, r1, ..."""

    name: str
    extent: int
    reduced: bool = False


Dims = tuple[Dim, ...]


@record
class Read:
    """Elements of a buffer: at the point i, `buffer[base + sum of i_d * stride_d]`. `strides` has
    the dims along which the address moves, outermost first, and none with stride 0."""

    buffer: str
    element: DType
    base: ir.Expr
    strides: tuple[tuple[Dim, ir.Expr], ...]


@record
class Uniform:
    """One scalar for all points."""

    value: ir.Expr

    @property
    def element(self) -> DType:
        return self.value.type.element


@record
class Line:
    """An index: at the point i, `base + sum of i_d * stride_d`. `strides` as those of a Read."""

    base: ir.Expr
    strides: tuple[tuple[Dim, ir.Expr], ...]
    element: DType = I64


@record
class Masked:
    """`value` where the condition holds, else 0; no memory is touched there."""

    condition: Tensor
    value: Tensor

    @property
    def element(self) -> DType:
        return self.value.element


@record
class Apply:
    """A node of the IR applied point by point; `node` is a scalar template whose operands are to be
    taken from `args`."""

    node: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call
    args: tuple[Tensor, ...]

    @property
    def element(self) -> DType:
        return self.node.type.element


@record
class Reduce:
    """`value` reduced over `dims`, in any order."""

    op: ir.Op
    dims: Dims
    value: Tensor

    @property
    def element(self) -> DType:
        return self.value.element


@record
class Band:
    """The banded (Toeplitz) matrix of a filter along `r`: at (d, t) the `value` at the r with
    `r_step * r = t - d_step * d` where there is one, else 0."""

    value: Tensor
    d: Dim
    t: Dim
    r: Dim
    d_step: int = 1
    r_step: int = 1

    @property
    def element(self) -> DType:
        return self.value.element


Tensor = Read | Uniform | Line | Apply | Reduce | Band | Masked
_PARTS = children_by_class("Tensor".__eq__)
_WITH_PARTS = map_by_class(["Tensor".__eq__])


class NotTensorError(Exception):
    """The expression has a part without strides: a masked load, a swizzle, a data-dependent index."""

    def __init__(self, part: ir.Expr, reason: str) -> None:
        super().__init__(reason)
        self.part = part
        self.reason = reason


def box(*es: ir.Expr) -> Dims:
    """The sides of the lanes that the expressions share: the coarsest in which each is a tensor.
    Raises NotTensorError."""
    lanes = {e.type.lanes for e in es}
    if len(lanes) != 1:
        raise ValueError(f"expressions of {sorted(lanes)} lanes share no box")
    cuts: set[int] = {1, *lanes}
    for e in es:
        cuts |= _cuts(e)
    return tuple(Dim(f"d{n}", extent) for n, extent in enumerate(_extents(cuts, es[0])))


def tensor(e: ir.Expr, dims: Dims, alone: bool = False) -> Tensor:
    """`e` over a box that `box` made of it (and of others). `alone`: one element is a box of one point,
    and not a number that somebody else computes. Raises NotTensorError."""
    return _Reader(alone and not dims).read(e, dims)


def conjuncts(condition: Tensor) -> tuple[Tensor, ...]:
    """The conditions that must hold together."""
    match condition:
        case Apply(node=ir.Binary(op=ir.Op.AND), args=(a, b)):
            return (*conjuncts(a), *conjuncts(b))
        case _:
            return (condition,)


def strides_along(x: Tensor) -> frozenset[Dim]:
    """The dims along which the value differs from point to point."""
    match x:
        case Read(strides=strides) | Line(strides=strides):
            return frozenset(d for d, _ in strides)
        case Uniform():
            return frozenset()
        case Apply(args=args):
            return frozenset().union(*(strides_along(a) for a in args))
        case Reduce(dims=dims, value=value):
            return strides_along(value) - frozenset(dims)
        case Band(value=value, d=d, t=t, r=r):
            return (strides_along(value) - {r}) | {d, t}
        case Masked(condition=condition, value=value):
            return strides_along(condition) | strides_along(value)


def reads(x: Tensor) -> Iterator[Read]:
    """The loads, in reading order."""
    if isinstance(x, Read):
        yield x
    for p in parts(x):
        yield from reads(p)


def parts(x: Tensor) -> tuple[Tensor, ...]:
    """The tensors that it is made of."""
    found: tuple[Tensor, ...] = _PARTS[type(x)](x)
    return found


def map_parts(x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
    """`x` made of what `f` makes of its parts."""
    new: Tensor = _WITH_PARTS[type(x)](x, f)
    return new


def scalars(x: Tensor) -> Iterator[ir.Expr]:
    """The scalar expressions in it: bases, strides and uniform values."""
    match x:
        case Read(base=base, strides=strides) | Line(base=base, strides=strides):
            yield base
            yield from (s for _, s in strides)
        case Uniform(value=value):
            yield value
        case _:
            for p in parts(x):
                yield from scalars(p)


def replaced(x: Tensor, buffer: str, by: Tensor) -> Tensor:
    """`x` with another value where the buffer is read."""
    match x:
        case Read():
            return by if x.buffer == buffer else x
        case Masked(condition=condition, value=value):
            return Masked(condition, replaced(value, buffer, by))
        case _:
            return map_parts(x, lambda p: replaced(p, buffer, by))


ScalarMap = Callable[[ir.Expr, Read | None], ir.Expr]
"""Of the base of a read, and this; of another scalar, and nothing."""


def map_scalars(x: Tensor, f: ScalarMap) -> Tensor:
    """`x` with `f` applied to its bases and uniform values; strides stay."""
    match x:
        case Read(buffer=buffer, element=element, base=base, strides=strides):
            return Read(buffer, element, f(base, x), strides)
        case Line(base=base, strides=strides):
            return Line(f(base, None), strides)
        case Uniform(value=value):
            return Uniform(f(value, None))
        case _:
            return map_parts(x, lambda p: map_scalars(p, f))


def placed(at: Layout, dims: Dims) -> tuple[tuple[Dim, ir.Expr], ...]:
    """The strides of a layout along the dims, which are as fine as its own or finer."""
    strides: list[tuple[Dim, ir.Expr]] = []
    left = list(dims)
    for extent, stride in reversed(at.dims):
        inner = 1
        while inner < extent:
            d = left.pop()
            strides.append((d, canonical(mul(inner, stride))))
            inner *= d.extent
        if inner != extent:
            raise ValueError(f"the dims {dims} do not refine the layout {at.dims}")
    return tuple((d, s) for d, s in reversed(strides) if s != ir.const_index(0))


class _Reader:
    """Names the reduced dims of one statement."""

    def __init__(self, alone: bool) -> None:
        self.reduced = 0
        self.alone = alone

    def read(self, e: ir.Expr, dims: Dims) -> Tensor:
        if e.type.lanes == 1 and not (
            self.alone and not dims and contains(e, ir.Load, ir.VectorReduce)
        ):
            return Uniform(e)
        match e:
            case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
                at = _strided(index)
                there = Read(buffer, t.element, at.base, placed(at, dims))
                return there if mask is None else masked(self.read(mask, dims), there)
            case ir.Ramp():
                at = _strided(e)
                return Line(at.base, placed(at, dims))
            case ir.Broadcast(value=value):
                return self.read(value, _innermost(dims, value.type.lanes))
            case ir.VectorReduce(op=op, value=value, lanes=lanes):
                below = value.type.lanes // lanes
                extents = _extents({c for c in _cuts(value) if c <= below} | {1, below}, e)
                summed = tuple(self._fresh(extent) for extent in extents)
                return Reduce(op, summed, self.read(value, (*dims, *summed)))
            case ir.Select(condition=c, a=a, b=b) if const_value(b) == 0:
                return masked(self.read(c, dims), self.read(a, dims))
            case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
                return Apply(template(e), tuple(self.read(c, dims) for c in operand_parts(e)))
            case _:
                raise NotTensorError(e, "it is not a strided load or arithmetic on such")

    def _fresh(self, extent: int) -> Dim:
        self.reduced += 1
        return Dim(f"r{self.reduced - 1}", extent, reduced=True)


def template(
    e: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call,
) -> ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call:
    """The node with names for its operands: what it does, and not to what."""
    scalar = map_children(e, lambda c: operand_name(c.type.element))
    assert isinstance(scalar, ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call)
    return scalar


def operand_name(element: DType) -> ir.Var:
    """The operand of a template."""
    return ir.Var("x", element(1))


def operand_parts(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """What the template of a node is applied to."""
    return tuple(c for c in children(e) if isinstance(c, ir.Expr))


def _innermost(dims: Dims, lanes: int) -> Dims:
    """The last dims, as many as make up so many lanes."""
    first = len(dims)
    while prod(d.extent for d in dims[first:]) < lanes:
        first -= 1
    return dims[first:]


def _cuts(e: ir.Expr) -> set[int]:
    """The numbers of adjacent lanes at which a side of `e` ends, counted from the innermost."""
    if e.type.lanes == 1:
        return {1}
    match e:
        case ir.Load(index=index, mask=mask):
            return _cuts_of(_strided(index)) | (set() if mask is None else _cuts(mask))
        case ir.Ramp():
            return _cuts_of(_strided(e))
        case ir.Broadcast(value=value):
            return _cuts(value) | {value.type.lanes}
        case ir.VectorReduce(value=value, lanes=lanes):
            below = value.type.lanes // lanes
            inner_cuts = _cuts(value) | {below}
            _extents(inner_cuts, e)
            return {c // below for c in inner_cuts if c >= below}
        case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
            return set().union(*(_cuts(c) for c in operand_parts(e)))
        case _:
            raise NotTensorError(e, "it is not a strided load or arithmetic on such")


def _cuts_of(at: Layout) -> set[int]:
    cuts, inner = {1}, 1
    for extent, _ in reversed(at.dims):
        inner *= extent
        cuts.add(inner)
    return cuts


def masked(condition: Tensor, value: Tensor) -> Tensor:
    """`value` under each of the conditions that must hold together."""
    match condition:
        case Apply(node=ir.Binary(op=ir.Op.AND), args=(a, b)):
            return masked(a, masked(b, value))
        case _:
            return Masked(condition, value)


def _extents(cuts: Iterable[int], e: ir.Expr) -> tuple[int, ...]:
    """The extents between the cuts, outermost first."""
    ends = sorted(cuts)
    extents = []
    for inner, outer in pairwise(ends):
        if outer % inner:
            raise NotTensorError(e, f"{inner} and {outer} adjacent lanes belong together at once")
        extents.append(outer // inner)
    return tuple(reversed(extents))


def _strided(index: ir.Expr) -> Layout:
    at = layout(index)
    if at is None:
        raise NotTensorError(index, "the index has no constant strides")
    return at
