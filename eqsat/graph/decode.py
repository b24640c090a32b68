"""Terms of the e-graph as tensor expressions again."""

from __future__ import annotations

from dataclasses import replace

from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.graph.encode import Encoding
from hbc.eqsat.tensors.tensor import (
    Apply,
    Band,
    Dim,
    Line,
    Read,
    Reduce,
    Tensor,
    Uniform,
    masked,
    operand_name,
)
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, floordiv, mul, sub
from hbc.ir.lang.types import BOOL, DTYPES, DType, Type


def decode(t: Term, of: Encoding) -> Tensor:
    """The tensor expression of a term; the same object for the same term."""
    decoded = of.decoded.get(id(t))
    if decoded is None:
        decoded = of.decoded[id(t)] = t, _decoded(t, of)
    return decoded[1]


def _decoded(t: Term, of: Encoding) -> Tensor:
    match t:
        case Term("Read", (int(place), Term() as strides)):
            return Read(*of.places[place], _moves(strides, of))
        case Term("Line", (int(number), Term() as strides)):
            return Line(of.scalars[number], _moves(strides, of))
        case Term("Masked", (Term() as condition, Term() as x)):
            return masked(decode(condition, of), decode(x, of))
        case Term("Scalar", (int(number),)):
            return Uniform(of.scalars[number])
        case Term("Reduce", (str(op), int(mask), Term() as x)):
            return Reduce(ir.Op(op), of.of_mask(mask), decode(x, of))
        case Term("Slid", (Term() as c, int(d), int(r), int(t_bit), int(m), int(n))):
            return slid(decode(c, of), _dim(d, of), _dim(r, of), _dim(t_bit, of), m, n)
        case Term(
            "Reached", (Term() as c, Term() as u, int(d), int(r), int(t_bit), int(m), int(n))
        ):
            dims = (_dim(d, of), _dim(r, of), _dim(t_bit, of))
            taps = None if u.head == "Everywhere" else decode(u, of)
            return reached(decode(c, of), taps, *dims, m, n)
        case Term("Band", (Term() as x, int(d), int(t_bit), int(r), int(m), int(n))):
            return Band(decode(x, of), _dim(d, of), _dim(t_bit, of), _dim(r, of), m, n)
        case _:
            args = tuple(decode(a, of) for a in t.args if isinstance(a, Term))
            return Apply(_template(t, args), args)


def slid(c: Tensor, d: Dim, r: Dim, t: Dim, m: int, n: int) -> Tensor:
    """The condition `base + step * r < end` as one on t = m * d + n * r: it holds up to the last t of any d
    and such an r. One of `step` and n is 1."""
    match c:
        case Apply(args=(Line(base=base, strides=((moved, step),)), Uniform(value=end))) if (
            moved == r
        ):
            beyond = sub(mul(step, m * (d.extent - 1)), n - 1)
            line = Line(mul(n, base), ((t, step),))
            return replace(c, args=(line, Uniform(add(mul(n, end), beyond))))
        case _:
            raise InternalError(f"a condition that cannot slide: {c}")


def reached(c: Tensor, taps: Tensor | None, d: Dim, r: Dim, t: Dim, m: int, n: int) -> Tensor:
    """The condition `base + step * d + others < end` as one on t = m * d + n * r: it holds up to the last
    d, and there the last r where `taps` does; nowhere if not where d is 0. One of `step` and m is 1."""
    match c:
        case Apply(args=(Line(base=base, strides=strides), Uniform(value=end))):
            step = dict(strides)[d]
            rest = tuple((e, s) for e, s in strides if e != d)
            others = tuple((e, mul(m, s)) for e, s in rest)
            last = add(mul(m, sub(end, 1)), mul(mul(step, n), sub(_count(taps, r), 1)))
            line = Line(mul(m, base), ((t, step), *others))
            first = replace(c, args=(Line(base, rest) if rest else Uniform(base), Uniform(end)))
            whole = replace(c, args=(line, Uniform(add(last, 1))))
            both = ir.Binary(ir.Op.AND, operand_name(BOOL), operand_name(BOOL))
            return Apply(both, (first, whole))
        case _:
            raise InternalError(f"a condition that reaches no end: {c}")


def _count(c: Tensor | None, r: Dim) -> ir.Expr:
    """How many of the points of r a condition `base + step * r < end` holds at."""
    match c:
        case None:
            return ir.const_index(r.extent)
        case Apply(args=(Line(base=base, strides=((_, step),)), Uniform(value=end))):
            holds = floordiv(sub(add(sub(end, base), step), 1), step)
            return binary(ir.Op.MIN, r.extent, holds)
        case _:
            raise InternalError(f"a condition that ends nowhere: {c}")


def _moves(t: Term, of: Encoding) -> tuple[tuple[Dim, ir.Expr], ...]:
    strides = stride_map(t)
    return tuple((d, of.of_stride(strides[of.bit(d)])) for d in of.dims if of.bit(d) in strides)


def stride_map(t: Term) -> dict[int, int]:
    """The strides by the bits of their dimensions. egglog 14 extracts a map as one term, 13 as insertions."""
    match t:
        case Term("map-of", args):
            numbers = [a for a in args if isinstance(a, int)]
            return dict(zip(numbers[::2], numbers[1::2], strict=True))
        case Term("map-empty", ()):
            return {}
        case Term("map-insert", (Term() as rest, int(bit), int(stride))):
            return {**stride_map(rest), bit: stride}
        case _:
            raise InternalError(f"strides that are no map: {t}")


def _dim(bit: int, of: Encoding) -> Dim:
    return of.of_mask(bit)[0]


def _template(
    t: Term, args: tuple[Tensor, ...]
) -> ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call:
    """A scalar node of that operation."""
    x = _operand(args[0].element)
    match t:
        case Term("Cast", (str(name), _)):
            return ir.Cast(Type(DTYPES[name]), x)
        case Term("Bin", (str(op), _, _)):
            return ir.Binary(ir.Op(op), x, _operand(args[1].element))
        case Term("Un", (str(op), _)):
            return ir.Unary(ir.UnaryOp(op), x)
        case Term("Fn", (str(name), _)):
            return ir.Call(ir.MathOp(name), (x,), Type(args[0].element))
        case Term("Bits", (str(name), _)):
            return ir.Call(ir.MathOp.REINTERPRET, (x,), Type(DTYPES[name]))
        case Term("Sel", _):
            return ir.Select(
                operand_name(BOOL), _operand(args[1].element), _operand(args[2].element)
            )
        case _:
            raise InternalError(f"a term without a meaning: {t}")


def _operand(element: DType) -> ir.Expr:
    return operand_name(element)
