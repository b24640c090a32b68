"""What can be wrong with an expression: types, lanes, names, buffers."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.fold import round_to
from hbc.ir.lang.operators import FIXED_POINT, has_fixed_point
from hbc.ir.lang.types import BOOL, I64, DType, Kind, Type
from hbc.ir.lang.walk import operands

Names = Mapping[str, Type]
Buffers = Mapping[str, DType]

_ON_BOOL = ir.COMPARISONS | {ir.Op.AND, ir.Op.OR, ir.Op.XOR}
_ON_INTEGERS = frozenset({ir.Op.AND, ir.Op.OR, ir.Op.XOR, ir.Op.SHL, ir.Op.SHR})


def mistakes(e: ir.Expr, names: Names, buffers: Buffers) -> list[tuple[ir.Expr, str]]:
    """Each wrong node with what is wrong, inner nodes before those around them."""
    reported: list[tuple[ir.Expr, str]] = []
    stack = [e]
    while stack:
        top = stack.pop()
        if (wrong := _mistake(top, names, buffers)) is not None:
            reported.append((top, wrong))
        if isinstance(top, ir.Let):
            inside = {**names, top.name: top.value.type}
            reported += reversed(mistakes(top.body, inside, buffers))
            stack.append(top.value)
        else:
            stack += operands(top)
    return reported[::-1]


def _mistake(e: ir.Expr, names: Names, buffers: Buffers) -> str | None:
    match e:
        case ir.Binary():
            return _binary(e)
        case ir.Const(value=value, type=t):
            return None if _fits(value, t) else f"{value!r} is not a {t}"
        case ir.Var(name=name, type=t):
            if name not in names:
                return f"`{name}` is not defined here"
            declared = names[name]
            return None if declared is t or declared == t else f"`{name}` is {names[name]}, not {t}"
        case ir.Unary(op=op, a=a):
            wrong = (
                a.type.element.is_float
                if op is ir.UnaryOp.NOT
                else a.type.element.kind is Kind.BOOL
            )
            return f"`{op}` of {a.type}" if wrong else None
        case ir.Select(condition=c, a=a, b=b):
            if a.type != b.type:
                return f"a select between {a.type} and {b.type}"
            wanted = Type(BOOL, a.type.lanes)
            return None if c.type == wanted else f"a condition of {c.type}, not {wanted}"
        case ir.Cast(type=t, value=v):
            same = t.lanes == v.type.lanes
            return None if same else f"a cast of {v.type.lanes} lanes to {t.lanes}"
        case ir.Load():
            return _load(e, buffers)
        case ir.Call(name=name, args=args, type=t):
            if name is ir.MathOp.REINTERPRET:
                wrong = len(args) != 1 or args[0].type.element.bits != t.element.bits
            else:
                wrong = not t.element.is_float or any(a.type != t for a in args)
            return f"`{name}` gives {t}" if wrong else None
        case ir.Access():
            return "an Access after lowering"
        case ir.Tuple():
            return "a Tuple after lowering"
        case ir.Let(name=name):
            return f"`{name}` is bound where it has a meaning already" if name in names else None
        case ir.Move() | ir.Instruct():
            return None  # `verify` knows the instructions
        case _:
            return _lanes(e)


def _binary(e: ir.Binary) -> str | None:
    a, b = e.a.type, e.b.type
    if a is not b and a != b:
        return f"`{e.op}` of {a} and {b}"
    kind = a.element.kind
    if e.op in FIXED_POINT:
        return None if has_fixed_point(e.op, a.element) else f"`{e.op}` of {a}"
    if kind is Kind.INT or kind is Kind.UINT:
        return None
    if kind is Kind.BOOL:
        wrong = e.op not in _ON_BOOL
    else:
        wrong = e.op in _ON_INTEGERS and not (e.op is ir.Op.SHL and kind is Kind.FLOAT)
    return f"`{e.op}` of {a}" if wrong else None


def _load(e: ir.Load, buffers: Buffers) -> str | None:
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


def _lanes(e: ir.Lanes) -> str | None:
    match e:
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            if base.type != stride.type or not base.type.element.is_int:
                return f"a ramp of {base.type} with strides of {stride.type}"
            return None if lanes > 1 else f"a ramp of {lanes}"
        case ir.Broadcast(lanes=lanes):
            return None if lanes > 1 else f"a broadcast to {lanes}"
        case ir.VectorReduce(op=op, value=v, lanes=lanes):
            if op not in ir.ASSOCIATIVE:
                return f"a reduction with `{op}`"
            whole = lanes > 0 and v.type.lanes % lanes == 0
            return None if whole else f"a reduction of {v.type.lanes} lanes to {lanes}"
        case ir.Gather(value=v, lanes=picks):
            wrong = [p for p in picks if not -1 <= p < v.type.lanes]
            if not picks:
                return "a gather of no lanes"
            return f"a gather of lane {wrong[0]} of {v.type.lanes}" if wrong else None


def _fits(value: int | float | bool, t: Type) -> bool:
    """Does the literal hold a value of its (scalar) type exactly?"""
    if t.lanes != 1:
        return False
    element = t.element
    if isinstance(value, bool) or element.kind is Kind.BOOL:
        return isinstance(value, bool) and element.kind is Kind.BOOL
    if element.is_float:
        number = float(value)
        return number != number or round_to(number, element) == number
    low, high = element.limits
    return isinstance(value, int) and low <= value <= high
