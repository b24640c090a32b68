"""Smart constructors: nodes with literals folded and trivial cases taken away.

A scalar operand is broadcast when the other is a vector; a Python number takes the type of the
other operand. Floats keep their exact value: `x + 0` and `x * 0` stay.
"""

from __future__ import annotations

import math
from functools import partial

from hbc.ir.lang import fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import INDEX, DType, Kind, Type
from hbc.ir.lang.walk import nodes_of

Operand = ir.Expr | int | float

NEGATED = {
    ir.Op.LT: ir.Op.GE, ir.Op.GE: ir.Op.LT,
    ir.Op.GT: ir.Op.LE, ir.Op.LE: ir.Op.GT,
    ir.Op.EQ: ir.Op.NE, ir.Op.NE: ir.Op.EQ,
}  # fmt: skip
COMMUTES = frozenset(
    {ir.Op.ADD, ir.Op.MUL, ir.Op.MIN, ir.Op.MAX, ir.Op.AND, ir.Op.OR, ir.Op.XOR, *FIXED_POINT}
    - {ir.Op.SUBSAT}
)


_PLAIN = 1 << 63  # no number below is changed
_NUMBER = (int, float)  # a tuple, since to unite types takes long


def const(value: int | float | bool, type: Type | DType = INDEX) -> ir.Expr:
    """A literal, converted as `Cast` converts; a Broadcast of it for a vector type."""
    if type is INDEX and value.__class__ is int and -_PLAIN <= value < _PLAIN:
        return ir.const_index(value)
    element = type if isinstance(type, DType) else type.element
    lanes = 1 if isinstance(type, DType) else type.lanes
    scalar = ir.Const(_in_range(value, element), Type(element))
    return scalar if lanes == 1 else ir.Broadcast(scalar, lanes)


def const_value(e: ir.Expr) -> int | float | bool | None:
    """The value of a literal or of a broadcast literal."""
    while e.__class__ is ir.Broadcast:
        e = e.value
    return e.value if e.__class__ is ir.Const else None


def same(a: ir.Expr, b: ir.Expr) -> bool:
    """Equal trees, with -0.0 and 0.0 told apart (as `==` does not)."""
    if a is b:
        return True
    if a.__class__ is not b.__class__ or a != b:
        return False
    if isinstance(a, ir.Var):
        return True
    return _signs(a) == _signs(b)


def broadcast(e: ir.Expr, lanes: int) -> ir.Expr:
    """`lanes` copies; one copy is `e` itself, copies of copies are one node."""
    if lanes == 1:
        return e
    if isinstance(e, ir.Broadcast):
        return ir.Broadcast(e.value, e.lanes * lanes)
    return ir.Broadcast(e, lanes)


def ramp(base: ir.Expr, stride: Operand, lanes: int) -> ir.Expr:
    """base, base + stride, ...; the stride gets as many lanes as the base."""
    if lanes == 1:
        return base
    base, step = _alike(base, stride)
    return broadcast(base, lanes) if const_value(step) == 0 else ir.Ramp(base, step, lanes)


def binary(op: ir.Op, a: Operand, b: Operand) -> ir.Expr:
    """`a op b`."""
    x, y = _alike(a, b)
    p, q = const_value(x), const_value(y)
    if p is not None and q is not None:
        value = fold.binary(op, p, q, x.type.element)
        if value is not None:
            return const(value, ir.Binary(op, x, y).type)
    if p is not None and q is None and op in COMMUTES:
        x, y, p, q = y, x, q, p
    return _with_literal(op, x, y, p, q) or _with_itself(op, x, y) or ir.Binary(op, x, y)


add = partial(binary, ir.Op.ADD)
sub = partial(binary, ir.Op.SUB)
mul = partial(binary, ir.Op.MUL)
floordiv = partial(binary, ir.Op.DIV)
mod = partial(binary, ir.Op.MOD)
minimum = partial(binary, ir.Op.MIN)
maximum = partial(binary, ir.Op.MAX)
lt = partial(binary, ir.Op.LT)
le = partial(binary, ir.Op.LE)
eq = partial(binary, ir.Op.EQ)
ne = partial(binary, ir.Op.NE)


def clamp(x: Operand, low: Operand, high: Operand) -> ir.Expr:
    """`max(min(x, high), low)`: low wins where the range is empty."""
    return maximum(minimum(x, high), low)


def gt(a: Operand, b: Operand) -> ir.Expr:
    return binary(ir.Op.LT, b, a)


def ge(a: Operand, b: Operand) -> ir.Expr:
    return binary(ir.Op.LE, b, a)


def and_(*conditions: ir.Expr) -> ir.Expr:
    """All of them; `true` for none."""
    result: ir.Expr = ir.const_bool(True)
    for c in conditions:
        result = binary(ir.Op.AND, result, c)
    return result


def or_(*conditions: ir.Expr) -> ir.Expr:
    """Any of them; `false` for none."""
    result: ir.Expr = ir.const_bool(False)
    for c in conditions:
        result = binary(ir.Op.OR, result, c)
    return result


def not_(a: ir.Expr) -> ir.Expr:
    """Logical for bool, bitwise for integers. Comparisons of integers turn round."""
    value = const_value(a)
    if value is not None:
        folded = fold.unary(ir.UnaryOp.NOT, value, a.type.element)
        if folded is not None:
            return const(folded, a.type)
    match a:
        case ir.Unary(op=ir.UnaryOp.NOT, a=inner):
            return inner
        case ir.Binary(op=op, a=x, b=y) if op in ir.COMPARISONS and not x.type.element.is_float:
            return ir.Binary(NEGATED[op], x, y, a.span)
        case _:
            return ir.Unary(ir.UnaryOp.NOT, a)


def neg(a: ir.Expr) -> ir.Expr:
    """Minus `a`."""
    value = const_value(a)
    if value is not None:
        folded = fold.unary(ir.UnaryOp.NEG, value, a.type.element)
        if folded is not None:
            return const(folded, a.type)
    if isinstance(a, ir.Unary) and a.op is ir.UnaryOp.NEG:
        return a.a
    return ir.Unary(ir.UnaryOp.NEG, a)


def select(condition: ir.Expr, a: Operand, b: Operand) -> ir.Expr:
    """`a` where the condition holds, else `b`; lanes are those of the widest of the three."""
    x, y = _alike(a, b)
    known = const_value(condition)
    lanes = max(condition.type.lanes, x.type.lanes)
    condition, x, y = (_widen(e, lanes) for e in (condition, x, y))
    if known is not None:
        return x if known else y
    return x if same(x, y) else ir.Select(condition, x, y)


def cast(to: DType | Type, value: ir.Expr) -> ir.Expr:
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
    return ir.Cast(Type(element, value.type.lanes), value)


def call(call_node: ir.Call) -> ir.Expr:
    """The call, folded when its argument is a literal and the function exact."""
    value = const_value(call_node.args[0])
    if value is None or len(call_node.args) != 1:
        return call_node
    folded = fold.call(call_node.name, value, call_node.type.element)
    return call_node if folded is None else const(folded, call_node.type)


def _with_literal(
    op: ir.Op, x: ir.Expr, y: ir.Expr, p: int | float | bool | None, q: int | float | bool | None
) -> ir.Expr | None:
    """`x op y` where one of them is the literal p or q, when it is one of the two or a literal."""
    kind = x.type.element.kind
    if p is None and q is None:
        return None
    if kind in (Kind.FLOAT, Kind.BFLOAT, Kind.FLOAT8):
        return x if q == 1 and op in (ir.Op.MUL, ir.Op.DIV) else None
    if kind is Kind.BOOL:
        if op is ir.Op.AND:
            return x if q else y
        if op is ir.Op.OR:
            return y if q else x
        return x if op is ir.Op.XOR and not q else None
    if q == 0:
        if op in (ir.Op.ADD, ir.Op.SUB, ir.Op.OR, ir.Op.XOR, ir.Op.SHL, ir.Op.SHR):
            return x
        if op in (ir.Op.MUL, ir.Op.DIV, ir.Op.MOD, ir.Op.AND):
            return y
    if q == 1:
        if op in (ir.Op.MUL, ir.Op.DIV):
            return x
        if op is ir.Op.MOD:
            return const(0, x.type)
    if p == 0 and op in (ir.Op.DIV, ir.Op.MOD, ir.Op.SHL, ir.Op.SHR):
        return x
    # x + a + b and x - a - b of literals: one literal.
    if q is not None and op in (ir.Op.ADD, ir.Op.SUB) and isinstance(x, ir.Binary) and x.op is op:
        r = const_value(x.b)
        if r is not None:
            return binary(op, x.a, const(int(r) + int(q), y.type))
    return None


def _with_itself(op: ir.Op, x: ir.Expr, y: ir.Expr) -> ir.Expr | None:
    """`x op x`, when that is x or a literal. NaN differs from itself."""
    if not same(x, y):
        return None
    if op in (ir.Op.MIN, ir.Op.MAX, ir.Op.AND, ir.Op.OR):
        return x
    if x.type.element.is_float:
        return None
    if op in (ir.Op.SUB, ir.Op.XOR, ir.Op.MOD):
        return const(0, x.type)
    if op in ir.COMPARISONS:
        return const(op in (ir.Op.LE, ir.Op.GE, ir.Op.EQ), ir.Binary(op, x, y).type)
    return None


def _alike(a: Operand, b: Operand) -> tuple[ir.Expr, ir.Expr]:
    """Both as expressions with as many lanes."""
    if isinstance(a, _NUMBER):
        if isinstance(b, _NUMBER):
            a, b = const(a), const(b)
        else:
            a = const(a, b.type.element)
    elif isinstance(b, _NUMBER):
        b = const(b, a.type.element)
    elif a.type is b.type:
        return a, b
    lanes = max(a.type.lanes, b.type.lanes)
    return _widen(a, lanes), _widen(b, lanes)


def _widen(e: ir.Expr, lanes: int) -> ir.Expr:
    return broadcast(e, lanes) if e.type.lanes == 1 else e


def _in_range(value: int | float | bool, element: DType) -> int | float | bool:
    if element.kind is Kind.BOOL:
        return bool(value)
    if element.is_float:
        return fold.round_to(float(value), element)
    return fold.wrap(int(value), element)


def _signs(e: ir.Expr) -> list[float]:
    """The signs of the float literals, in reading order."""
    return [math.copysign(1, n.value) for n in nodes_of(e, ir.Const) if isinstance(n.value, float)]
