"""Smart constructors: nodes with literals folded and trivial cases taken away.

A scalar operand is broadcast when the other is a vector; a Python number takes the type of the
other operand. Floats keep their exact value: `x + 0` and `x * 0` stay.
"""

from __future__ import annotations

import math

from hbc.ir.lang import fold
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Binary,
    Broadcast,
    Call,
    Cast,
    Const,
    Expr,
    Op,
    Ramp,
    Select,
    Unary,
    UnaryOp,
    Var,
    const_bool,
)  # fmt: skip
from hbc.ir.lang.types import INDEX, DType, Kind, Type
from hbc.ir.lang.walk import nodes

Operand = Expr | int | float

NEGATED = {
    Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT, Op.EQ: Op.NE, Op.NE: Op.EQ,
}  # fmt: skip
_COMMUTES = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.XOR})


def const(value: int | float | bool, type: Type | DType = INDEX) -> Expr:
    """A literal, converted as `Cast` converts; a Broadcast of it for a vector type."""
    element = type if isinstance(type, DType) else type.element
    lanes = 1 if isinstance(type, DType) else type.lanes
    scalar = Const(_in_range(value, element), Type(element))
    return scalar if lanes == 1 else Broadcast(scalar, lanes)


def const_value(e: Expr) -> int | float | bool | None:
    """The value of a literal or of a broadcast literal."""
    while isinstance(e, Broadcast):
        e = e.value
    return e.value if isinstance(e, Const) else None


def same(a: Expr, b: Expr) -> bool:
    """Equal trees, with -0.0 and 0.0 told apart (as `==` does not)."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or a != b:
        return False
    if isinstance(a, Var):
        return True
    return _signs(a) == _signs(b)


def broadcast(e: Expr, lanes: int) -> Expr:
    """`lanes` copies; one copy is `e` itself, copies of copies are one node."""
    if lanes == 1:
        return e
    if isinstance(e, Broadcast):
        return Broadcast(e.value, e.lanes * lanes)
    return Broadcast(e, lanes)


def ramp(base: Expr, stride: Operand, lanes: int) -> Expr:
    """base, base + stride, ...; the stride gets as many lanes as the base."""
    if lanes == 1:
        return base
    base, step = _alike(base, stride)
    return broadcast(base, lanes) if const_value(step) == 0 else Ramp(base, step, lanes)


def binary(op: Op, a: Operand, b: Operand) -> Expr:
    """`a op b`."""
    x, y = _alike(a, b)
    p, q = const_value(x), const_value(y)
    if p is not None and q is not None:
        value = fold.binary(op, p, q, x.type.element)
        if value is not None:
            return const(value, Binary(op, x, y).type)
    if p is not None and q is None and op in _COMMUTES:
        x, y, p, q = y, x, q, p
    return _with_literal(op, x, y, p, q) or _with_itself(op, x, y) or Binary(op, x, y)


def add(a: Operand, b: Operand) -> Expr:
    return binary(Op.ADD, a, b)


def sub(a: Operand, b: Operand) -> Expr:
    return binary(Op.SUB, a, b)


def mul(a: Operand, b: Operand) -> Expr:
    return binary(Op.MUL, a, b)


def floordiv(a: Operand, b: Operand) -> Expr:
    return binary(Op.DIV, a, b)


def mod(a: Operand, b: Operand) -> Expr:
    return binary(Op.MOD, a, b)


def minimum(a: Operand, b: Operand) -> Expr:
    return binary(Op.MIN, a, b)


def maximum(a: Operand, b: Operand) -> Expr:
    return binary(Op.MAX, a, b)


def clamp(x: Operand, low: Operand, high: Operand) -> Expr:
    """`max(min(x, high), low)`: low wins where the range is empty."""
    return maximum(minimum(x, high), low)


def lt(a: Operand, b: Operand) -> Expr:
    return binary(Op.LT, a, b)


def le(a: Operand, b: Operand) -> Expr:
    return binary(Op.LE, a, b)


def gt(a: Operand, b: Operand) -> Expr:
    return binary(Op.LT, b, a)


def ge(a: Operand, b: Operand) -> Expr:
    return binary(Op.LE, b, a)


def eq(a: Operand, b: Operand) -> Expr:
    return binary(Op.EQ, a, b)


def ne(a: Operand, b: Operand) -> Expr:
    return binary(Op.NE, a, b)


def and_(*conditions: Expr) -> Expr:
    """All of them; `true` for none."""
    result: Expr = const_bool(True)
    for c in conditions:
        result = binary(Op.AND, result, c)
    return result


def or_(*conditions: Expr) -> Expr:
    """Any of them; `false` for none."""
    result: Expr = const_bool(False)
    for c in conditions:
        result = binary(Op.OR, result, c)
    return result


def not_(a: Expr) -> Expr:
    """Logical for bool, bitwise for integers. Comparisons of integers turn round."""
    value = const_value(a)
    if value is not None:
        folded = fold.unary(UnaryOp.NOT, value, a.type.element)
        if folded is not None:
            return const(folded, a.type)
    match a:
        case Unary(op=UnaryOp.NOT, a=inner):
            return inner
        case Binary(op=op, a=x, b=y) if op in COMPARISONS and not x.type.element.is_float:
            return Binary(NEGATED[op], x, y, a.span)
        case _:
            return Unary(UnaryOp.NOT, a)


def neg(a: Expr) -> Expr:
    """Minus `a`."""
    value = const_value(a)
    if value is not None:
        folded = fold.unary(UnaryOp.NEG, value, a.type.element)
        if folded is not None:
            return const(folded, a.type)
    if isinstance(a, Unary) and a.op is UnaryOp.NEG:
        return a.a
    return Unary(UnaryOp.NEG, a)


def select(condition: Expr, a: Operand, b: Operand) -> Expr:
    """`a` where the condition holds, else `b`; lanes are those of the widest of the three."""
    x, y = _alike(a, b)
    known = const_value(condition)
    lanes = max(condition.type.lanes, x.type.lanes)
    condition, x, y = (_widen(e, lanes) for e in (condition, x, y))
    if known is not None:
        return x if known else y
    return x if same(x, y) else Select(condition, x, y)


def cast(to: DType | Type, value: Expr) -> Expr:
    """`value` converted to the element type of `to`, lane by lane."""
    element = to if isinstance(to, DType) else to.element
    source = value.type.element
    if element == source:
        return value
    literal = const_value(value)
    if literal is not None:
        folded = fold.convert(literal, source, element)
        if folded is not None:
            return const(folded, Type(element, value.type.lanes))
    return Cast(Type(element, value.type.lanes), value)


def call(call_node: Call) -> Expr:
    """The call, folded when its argument is a literal and the function exact."""
    value = const_value(call_node.args[0])
    if value is None or len(call_node.args) != 1:
        return call_node
    folded = fold.call(call_node.name, value, call_node.type.element)
    return call_node if folded is None else const(folded, call_node.type)


def _with_literal(
    op: Op, x: Expr, y: Expr, p: int | float | bool | None, q: int | float | bool | None
) -> Expr | None:
    """`x op y` where one of them is the literal p or q, when it is one of the two or a literal."""
    kind = x.type.element.kind
    if p is None and q is None:
        return None
    if kind in (Kind.FLOAT, Kind.BFLOAT):
        return x if q == 1 and op in (Op.MUL, Op.DIV) else None
    if kind is Kind.BOOL:
        if op is Op.AND:
            return x if q else y
        if op is Op.OR:
            return y if q else x
        return x if op is Op.XOR and not q else None
    if q == 0:
        if op in (Op.ADD, Op.SUB, Op.OR, Op.XOR, Op.SHL, Op.SHR):
            return x
        if op in (Op.MUL, Op.DIV, Op.MOD, Op.AND):
            return y
    if q == 1:
        if op in (Op.MUL, Op.DIV):
            return x
        if op is Op.MOD:
            return const(0, x.type)
    if p == 0 and op in (Op.DIV, Op.MOD, Op.SHL, Op.SHR):
        return x
    # x + a + b and x - a - b of literals: one literal.
    if q is not None and op in (Op.ADD, Op.SUB) and isinstance(x, Binary) and x.op is op:
        r = const_value(x.b)
        if r is not None:
            return binary(op, x.a, const(int(r) + int(q), y.type))
    return None


def _with_itself(op: Op, x: Expr, y: Expr) -> Expr | None:
    """`x op x`, when that is x or a literal. NaN differs from itself."""
    if not same(x, y):
        return None
    if op in (Op.MIN, Op.MAX, Op.AND, Op.OR):
        return x
    if x.type.element.is_float:
        return None
    if op in (Op.SUB, Op.XOR, Op.MOD):
        return const(0, x.type)
    if op in COMPARISONS:
        return const(op in (Op.LE, Op.GE, Op.EQ), Binary(op, x, y).type)
    return None


def _alike(a: Operand, b: Operand) -> tuple[Expr, Expr]:
    """Both as expressions with as many lanes."""
    if isinstance(a, int | float):
        if isinstance(b, int | float):
            a, b = const(a), const(b)
        else:
            a = const(a, b.type.element)
    elif isinstance(b, int | float):
        b = const(b, a.type.element)
    lanes = max(a.type.lanes, b.type.lanes)
    return _widen(a, lanes), _widen(b, lanes)


def _widen(e: Expr, lanes: int) -> Expr:
    return broadcast(e, lanes) if e.type.lanes == 1 else e


def _in_range(value: int | float | bool, element: DType) -> int | float | bool:
    if element.kind is Kind.BOOL:
        return bool(value)
    if element.is_float:
        return fold.round_to(float(value), element)
    return fold.wrap(int(value), element)


def _signs(e: Expr) -> list[float]:
    """The signs of the float literals, in reading order."""
    return [
        math.copysign(1, n.value)
        for n in nodes(e)
        if isinstance(n, Const) and isinstance(n.value, float)
    ]
