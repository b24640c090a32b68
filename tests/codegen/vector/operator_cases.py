"""Every operator on operands that are inputs, as values to compile."""

from __future__ import annotations

from lanes import Case, Read

from hbc.ir.lang.build import eq, maximum, minimum, select
from hbc.ir.lang.nodes import COMPARISONS, Binary, Call, Expr, MathOp, Op, Select, Unary, UnaryOp
from hbc.ir.lang.operators import FIXED_POINT, has_fixed_point
from hbc.ir.lang.types import BOOL, F32, F64, DType

_ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD, Op.MIN, Op.MAX)
_BITS = (Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR)


def operators(t: DType) -> tuple[Op, ...]:
    """The binary operators that there are on a type."""
    compare = tuple(sorted(COMPARISONS))
    if t == BOOL:
        return (Op.AND, Op.OR, Op.XOR, *compare)
    if t.is_float:
        return (*_ARITHMETIC, *compare)
    own = tuple(op for op in FIXED_POINT if has_fixed_point(op, t))
    return (*_ARITHMETIC, *_BITS, *own, *compare)


def two_operands(op: Op, t: DType) -> Case:
    def value(read: Read) -> Expr:
        return Binary(op, read("a", t), read("b", t))

    return Case(f"a {op} b: {t}", value, signed_zero=tells_zeros_apart(op))


def tells_zeros_apart(op: Op) -> bool:
    """Which of 0 and -0 is the smaller one is left open."""
    return op not in (Op.MIN, Op.MAX)


def one_operand(op: UnaryOp, t: DType) -> Case:
    return Case(f"{op} a: {t}", lambda read: Unary(op, read("a", t)))


def selected(t: DType) -> Case:
    def value(read: Read) -> Expr:
        return Select(Binary(Op.LT, read("a", t), read("b", t)), read("b", t), read("c", t))

    return Case(f"select: {t}", value)


def unary_cases(t: DType) -> list[Case]:
    if t == BOOL:
        return [one_operand(UnaryOp.NOT, t)]
    last = () if t.is_float else (UnaryOp.NOT,)
    return [one_operand(op, t) for op in (UnaryOp.NEG, UnaryOp.ABS, *last)]


def plain_cases(t: DType) -> list[Case]:
    """Operands that are inputs."""
    scaled = [times_power_of_two(t)] if t in (F32, F64) else []
    return [*(two_operands(op, t) for op in operators(t)), *unary_cases(t), selected(t), *scaled]


def times_power_of_two(t: DType) -> Case:
    """Powers that are whole, from where results are 0 to where they are infinite; 3 instead of NaN."""

    def value(read: Read) -> Expr:
        b = read("b", t)
        whole = minimum(maximum(Call(MathOp.ROUND, (b,), b.type), -2200.0), 2200.0)
        return Binary(Op.SHL, read("a", t), select(eq(b, b), whole, 3.0))

    return Case(f"a * 2^b: {t}", value)
