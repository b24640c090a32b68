"""What can be wrong with an expression: types, lanes, names, buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hbc.ir.fold import round_to
from hbc.ir.nodes import (
    ASSOCIATIVE,
    COMPARISONS,
    Access,
    Binary,
    Broadcast,
    Call,
    Cast,
    Const,
    Expr,
    Gather,
    Let,
    Load,
    MathOp,
    Move,
    Op,
    Ramp,
    Select,
    Unary,
    UnaryOp,
    Var,
    VectorReduce,
)
from hbc.ir.types import BOOL, I64, DType, Kind, Type
from hbc.ir.walk import children

Names = Mapping[str, Type]
Buffers = Mapping[str, DType]

_ON_BOOL = COMPARISONS | {Op.AND, Op.OR, Op.XOR}
_ON_INTEGERS = frozenset({Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR})


def mistakes(e: Expr, names: Names, buffers: Buffers) -> Iterator[tuple[Expr, str]]:
    """Each wrong node with what is wrong, inner nodes first."""
    match e:
        case Let(name=name, value=value, body=body):
            yield from mistakes(value, names, buffers)
            yield from mistakes(body, {**names, name: value.type}, buffers)
            if name in names:
                yield e, f"`{name}` is bound where it has a meaning already"
        case _:
            for c in children(e):
                assert isinstance(c, Expr)
                yield from mistakes(c, names, buffers)
    found = _mistake(e, names, buffers)
    if found is not None:
        yield e, found


def _mistake(e: Expr, names: Names, buffers: Buffers) -> str | None:
    match e:
        case Const(value=value, type=t):
            return None if _fits(value, t) else f"{value!r} is not a {t}"
        case Var(name=name, type=t):
            if name not in names:
                return f"`{name}` is not defined here"
            return None if names[name] == t else f"`{name}` is {names[name]}, not {t}"
        case Binary():
            return _binary(e)
        case Unary(op=op, a=a):
            wrong = (
                a.type.element.is_float if op is UnaryOp.NOT else a.type.element.kind is Kind.BOOL
            )
            return f"`{op}` of {a.type}" if wrong else None
        case Select(condition=c, a=a, b=b):
            if a.type != b.type:
                return f"a select between {a.type} and {b.type}"
            wanted = Type(BOOL, a.type.lanes)
            return None if c.type == wanted else f"a condition of {c.type}, not {wanted}"
        case Cast(type=t, value=v):
            same = t.lanes == v.type.lanes
            return None if same else f"a cast of {v.type.lanes} lanes to {t.lanes}"
        case Load():
            return _load(e, buffers)
        case Call(name=name, args=args, type=t):
            if name is MathOp.REINTERPRET:
                wrong = len(args) != 1 or args[0].type.element.bits != t.element.bits
            else:
                wrong = not t.element.is_float or any(a.type != t for a in args)
            return f"`{name}` gives {t}" if wrong else None
        case Access():
            return "an Access after lowering"
        case Let() | Move():
            return None
        case _:
            return _vector(e)


def _binary(e: Binary) -> str | None:
    a, b = e.a.type, e.b.type
    if a != b:
        return f"`{e.op}` of {a} and {b}"
    if a.element.kind is Kind.BOOL and e.op not in _ON_BOOL:
        return f"`{e.op}` of {a}"
    return f"`{e.op}` of {a}" if a.element.is_float and e.op in _ON_INTEGERS else None


def _load(e: Load, buffers: Buffers) -> str | None:
    lanes = e.type.lanes
    if e.buffer not in buffers:
        return f"there is no buffer `{e.buffer}`"
    if buffers[e.buffer] != e.type.element:
        return f"`{e.buffer}` holds {buffers[e.buffer]}"
    if e.index.type != Type(I64, lanes):
        return f"an index of {e.index.type} for {lanes} lanes"
    if e.mask is not None and e.mask.type != Type(BOOL, lanes):
        return f"a mask of {e.mask.type} for {lanes} lanes"
    return None


def _vector(e: Ramp | Broadcast | VectorReduce | Gather) -> str | None:
    match e:
        case Ramp(base=base, stride=stride, lanes=lanes):
            if base.type != stride.type or not base.type.element.is_int:
                return f"a ramp of {base.type} with strides of {stride.type}"
            return None if lanes > 1 else f"a ramp of {lanes}"
        case Broadcast(lanes=lanes):
            return None if lanes > 1 else f"a broadcast to {lanes}"
        case VectorReduce(op=op, value=v, lanes=lanes):
            if op not in ASSOCIATIVE:
                return f"a reduction with `{op}`"
            whole = lanes > 0 and v.type.lanes % lanes == 0
            return None if whole else f"a reduction of {v.type.lanes} lanes to {lanes}"
        case Gather(value=v, lanes=picks):
            wrong = [p for p in picks if not -1 <= p < v.type.lanes]
            if not picks:
                return "a gather of no lanes"
            return f"a gather of lane {wrong[0]} of {v.type.lanes}" if wrong else None


def _fits(value: int | float | bool, t: Type) -> bool:
    """Does the literal hold a value of its (scalar) type exactly?"""
    if t.lanes != 1:
        return False
    if t.element.kind is Kind.BOOL:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if t.element.is_float:
        number = float(value)
        return number != number or round_to(number, t.element) == number
    low, high = t.element.limits
    return isinstance(value, int) and low <= value <= high
