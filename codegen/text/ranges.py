"""What is known about an integer expression: its sign and how many bits its value can need."""

from __future__ import annotations

from hbc.codegen.text.names import Scope
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import BOOL, I64, DType, Kind

# Sizes are at most 2^40, which the entry point checks; so are loop variables and strides.
INDEX_BITS = 42
_INDEX_OPERATORS = (
    frozenset(ir.Op) - ir.COMPARISONS - {ir.Op.SHL, ir.Op.XOR, ir.Op.OR, ir.Op.AND, *FIXED_POINT}
)


def is_index(e: ir.Expr, scope: Scope) -> bool:
    """Index arithmetic: loop variables, sizes and constants only. It is assumed not to overflow; with a
    constant that no index has, it is the arithmetic of data, which wraps."""
    match e:
        case ir.Var(name=name, type=t):
            return t.element == I64 and scope.find(name).bits is None
        case ir.Const(value=value, type=t):
            return t.element == I64 and abs(value) < 1 << INDEX_BITS
        case ir.Binary(op=op, a=a, b=b):
            return op in _INDEX_OPERATORS and is_index(a, scope) and is_index(b, scope)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            return is_index(a, scope)
        case ir.Select(a=a, b=b):
            return is_index(a, scope) and is_index(b, scope)
        case _:
            return False


def wraps(e: ir.Binary | ir.Unary, scope: Scope) -> bool:
    """Whether signed arithmetic may leave its type, so that C needs it spelled out."""
    t = e.type.element
    if t.kind is not Kind.INT:
        return False
    if t == I64 and is_index(e, scope):
        return False
    return bits(e, scope, top=True) > t.bits


def bits(e: ir.Expr, scope: Scope, *, top: bool = False) -> int:
    """Signed bits (sign included) that hold every value of an integer expression. `top`: of the
    exact result of the outermost operator, before it wraps."""
    t = e.type.element
    exact = _exact_bits(e, scope)
    return exact if top else min(exact, storage_bits(t))


def storage_bits(t: DType) -> int:
    if t == BOOL:
        return 2
    return t.bits + (t.kind is Kind.UINT)


def _exact_bits(e: ir.Expr, scope: Scope) -> int:
    match e:
        case ir.Const(value=v) if isinstance(v, int):
            return v.bit_length() + 1
        case ir.Var(name=name):
            known = scope.find(name).bits
            return INDEX_BITS if known is None else known
        case ir.Cast(value=v) if v.type.element.is_int or v.type.element == BOOL:
            return bits(v, scope)
        case ir.Binary(op=op, a=a, b=b) if op not in FIXED_POINT:
            return _binary_bits(op, bits(a, scope), bits(b, scope))
        case ir.Unary(op=op, a=a):
            return bits(a, scope) + (op is not ir.UnaryOp.NOT)
        case ir.Select(a=a, b=b):
            return max(bits(a, scope), bits(b, scope))
        case _:
            return storage_bits(e.type.element)


def _binary_bits(op: ir.Op, a: int, b: int) -> int:
    match op:
        case ir.Op.ADD | ir.Op.SUB:
            return max(a, b) + 1
        case ir.Op.MUL:
            return a + b
        case ir.Op.MIN | ir.Op.MAX | ir.Op.AND | ir.Op.OR | ir.Op.XOR:
            return max(a, b)
        case ir.Op.DIV:
            return a + 1
        case ir.Op.MOD:
            return b
        case ir.Op.SHR:
            return a
        case ir.Op.SHL:
            return 128
        case _:
            return 2


def nonnegative(e: ir.Expr, scope: Scope) -> bool:
    """True when the value is certainly >= 0."""
    t = e.type.element
    if t.kind in (Kind.UINT, Kind.BOOL):
        return True
    match e:
        case ir.Const(value=v):
            return v >= 0
        case ir.Var(name=name):
            return scope.find(name).nonnegative
        case ir.Cast(value=v) if v.type.element.is_int:
            return v.type.element.bits < t.bits and nonnegative(v, scope)
        case ir.Binary(op=ir.Op.ADD | ir.Op.MUL, a=a, b=b):
            return nonnegative(a, scope) and nonnegative(b, scope) and not wraps(e, scope)
        case ir.Binary(op=ir.Op.MIN | ir.Op.DIV | ir.Op.OR | ir.Op.XOR, a=a, b=b):
            return nonnegative(a, scope) and nonnegative(b, scope)
        case ir.Binary(op=ir.Op.MAX | ir.Op.AND, a=a, b=b):
            return nonnegative(a, scope) or nonnegative(b, scope)
        case ir.Binary(op=ir.Op.MOD, b=b):
            return nonnegative(b, scope)
        case ir.Binary(op=ir.Op.SHR, a=a):
            return nonnegative(a, scope)
        case ir.Select(a=a, b=b):
            return nonnegative(a, scope) and nonnegative(b, scope)
        case _:
            return False
