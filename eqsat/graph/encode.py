"""Tensor expressions as egglog programs, and the lists that their numbers stand for."""

from __future__ import annotations

from dataclasses import field
from itertools import product
from math import gcd
from typing import TypeVar, assert_never

from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.tensors.tensor import (
    Apply,
    Band,
    Dim,
    Dims,
    Line,
    Masked,
    Read,
    Reduce,
    Tensor,
    Uniform,
)
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DTYPES, DType
from hbc.ir.vectors.lane_rows import factored

_X = TypeVar("_X")
_SYMBOLIC = 1 << 40  # strides from here on are numbers of expressions
_MOST_DIMS = 30  # the other bits of a mask are for windows


@mutable
class Encoding:
    """What the numbers of one e-graph mean."""

    dims: list[Dim] = field(default_factory=list)
    places: list[tuple[str, DType, ir.Expr]] = field(default_factory=list)  # buffer, element, base
    scalars: list[ir.Expr] = field(default_factory=list)
    strides: list[ir.Expr] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    moves: list[dict[Dim, ir.Expr]] = field(default_factory=list)  # how each array moves
    decoded: dict[int, tuple[Term, Tensor]] = field(default_factory=dict)  # by the id of the term

    def bit(self, dim: Dim) -> int:
        """The mask of one dimension."""
        if dim not in self.dims:
            self.dims.append(dim)
        return 1 << self.dims.index(dim)

    def mask(self, dims: Dims) -> int:
        """The mask of several."""
        return sum(self.bit(d) for d in dims)

    def of_mask(self, mask: int) -> Dims:
        """The dimensions of a mask, in the order in which they were met."""
        return tuple(d for n, d in enumerate(self.dims) if mask >> n & 1)

    def stride(self, e: ir.Expr) -> int:
        """The number of a stride."""
        if isinstance(e, ir.Const) and 0 <= e.value < _SYMBOLIC:
            return int(e.value)
        return _SYMBOLIC + _number(self.strides, e)

    def of_stride(self, number: int) -> ir.Expr:
        """The stride of a number."""
        if number < _SYMBOLIC:
            return ir.const_index(number)
        return self.strides[number - _SYMBOLIC]


def encode(x: Tensor, into: Encoding) -> str:
    """`x` as an egglog term. What is known of its leaves is added to `into.facts`."""
    match x:
        case Read():
            return _read(x, into)
        case Uniform(value=value):
            e = f"(Scalar {_number(into.scalars, value)})"
            into.facts += [f"(set (along {e}) 0)", f'(set (element {e}) "{x.element}")']
            return e
        case Apply(node=node, args=args):
            inner = " ".join(encode(a, into) for a in args)
            return f"({_head(node)} {inner})"
        case Reduce(op=op, dims=dims, value=value):
            return f'(Reduce "{op}" {into.mask(dims)} {encode(value, into)})'
        case Line(base=base, strides=strides):
            e = f"(Line {_number(into.scalars, base)} {_map(strides, into)})"
            moving = into.mask(tuple(d for d, _ in strides))
            into.facts += [f"(set (along {e}) {moving})", f'(set (element {e}) "i64")']
            return e
        case Masked(condition=condition, value=value):
            c = encode(condition, into)
            into.facts.append(f"(Given {c})")
            return f"(Masked {c} {encode(value, into)})"
        case Band():
            raise InternalError("a banded matrix before the rules made one")
        case _:
            assert_never(x)


def type_facts() -> str:
    """`Exact` and `Limits` for all element types."""
    lines = []
    for a in DTYPES.values():
        if a.is_int and a.bits <= 32:
            low, high = a.limits
            lines.append(f'(Limits "{a}" {low} {high})')
        lines += [f'(Exact "{a}" "{b}")' for b in DTYPES.values() if a != b and exact(a, b)]
    return "\n".join(lines)


def exact(a: DType, b: DType) -> bool:
    """Whether every value of type `a` is one of type `b`."""
    if a.is_float:
        if not b.is_float:
            return False
        return (a.precision <= b.precision and a.bits < b.bits) or a == b
    if not a.is_int:
        return False
    if b.is_float:
        return a.bits - (1 if a.limits[0] < 0 else 0) <= b.precision and b.name != "f16"
    if not b.is_int:
        return False
    return b.limits[0] <= a.limits[0] and a.limits[1] <= b.limits[1]


def windows(dims: Dims, into: Encoding) -> list[str]:
    """For each way in which an array moves along an output dimension and along a summed one, the
    dimension of the one slid along the other."""
    summed = [d for d in into.dims if d.reduced]
    facts: dict[tuple[Dim, Dim, int, int], str] = {}
    for moves in into.moves:
        for d, r in product(dims, summed):
            if d not in moves or r not in moves:
                continue
            s, q = into.stride(moves[d]), into.stride(moves[r])
            steps = _steps(moves[d], moves[r])
            if (d, r, s, q) not in facts and steps is not None:
                m, n = steps
                t = window(d, r, m, n)
                bits = " ".join(str(into.bit(x)) for x in (d, r, t))
                facts[d, r, s, q] = f"(Window {bits} {s} {q} {m} {n})"
    return list(facts.values())


def _steps(s: ir.Expr, q: ir.Expr) -> tuple[int, int] | None:
    """How many times two strides are their greatest common divisor, when it is a number, or the second
    of them."""
    (a, m), (b, n) = factored(s), factored(q)
    if a != b or m <= 0 or n <= 0:
        return None
    g = gcd(m, n)
    return (m // g, n // g) if n == g or isinstance(q, ir.Const) else None


def window(d: Dim, r: Dim, m: int, n: int) -> Dim:
    """r, n apart, slid along d in steps of m."""
    extent = m * (d.extent - 1) + n * (r.extent - 1) + 1
    return Dim(
        f"{d.name}{r.name}" + (f"_{m}_{n}" if (m, n) != (1, 1) else ""), extent, reduced=True
    )


def _read(x: Read, into: Encoding) -> str:
    place = _number(into.places, (x.buffer, x.element, x.base))
    e = f"(Read {place} {_map(x.strides, into)})"
    moving = into.mask(tuple(d for d, _ in x.strides))
    into.facts += [f"(set (along {e}) {moving})", f'(set (element {e}) "{x.element}")']
    into.moves.append(dict(x.strides))
    return e


def _map(strides: tuple[tuple[Dim, ir.Expr], ...], into: Encoding) -> str:
    text = "(map-empty)"
    for dim, stride in strides:
        text = f"(map-insert {text} {into.bit(dim)} {into.stride(stride)})"
    return text


def _head(node: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call) -> str:
    match node:
        case ir.Cast(type=t):
            return f'Cast "{t.element}"'
        case ir.Binary(op=op):
            return f'Bin "{op}"'
        case ir.Unary(op=uop):
            return f'Un "{uop}"'
        case ir.Call(name=ir.MathOp.REINTERPRET, type=t):
            return f'Bits "{t.element}"'
        case ir.Call(name=name):
            return f'Fn "{name}"'
        case ir.Select():
            return "Sel"
        case _:
            assert_never(node)


def _number(listed: list[_X], x: _X) -> int:
    """Where `x` is in the list; it is added if it is not."""
    if x not in listed:
        listed.append(x)
    return listed.index(x)
