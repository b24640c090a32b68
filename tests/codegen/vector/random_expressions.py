"""Random expressions, several operators deep, the same for each seed."""

from __future__ import annotations

from random import Random

from lanes import Case, Read

from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import COMPARISONS, Binary, Cast, Expr, Op, Select, Unary, UnaryOp
from hbc.ir.lang.types import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, U32, DType

TYPES = (I8, U8, I16, U16, I32, U32, I64, F32, F64)
_ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD, Op.MIN, Op.MAX)


_INTEGER = (*_ARITHMETIC, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR)
# Neither a sum of a product, which some targets fuse, nor a remainder, which magnifies rounding.
_FLOAT = (Op.DIV, Op.MIN, Op.MAX)


def random_case(seed: int, depth: int) -> Case:
    """The same expression whenever it is asked for, over whatever lanes `read` has."""
    t = Random(seed).choice((*TYPES, BOOL))
    return Case(
        f"expression {seed}: {t}",
        lambda read: expression(Random(f"{seed}"), t, depth, read),
        signed_zero=False,
    )


def expression(r: Random, t: DType, depth: int, read: Read) -> Expr:
    if depth == 0 or r.random() < 0.1:
        return leaf(r, t, read)
    below = depth - 1
    kind = r.random()
    if t == BOOL:
        return condition(r, below, read)
    if kind < 0.15:
        other = r.choice([s for s in TYPES if s != t and not (s.is_float and t.is_float)])
        value = expression(r, other, below, read)
        return Cast(t(value.type.lanes), value)
    if kind < 0.25:
        c = condition(r, below, read)
        return Select(c, expression(r, t, below, read), expression(r, t, below, read))
    if kind < 0.35:
        ops = [UnaryOp.NEG, UnaryOp.ABS] + ([] if t.is_float else [UnaryOp.NOT])
        return Unary(r.choice(ops), expression(r, t, below, read))
    op = r.choice(_FLOAT if t.is_float else _INTEGER)
    a, b = expression(r, t, below, read), expression(r, t, below, read)
    if op is Op.DIV and t.is_float:
        b = Unary(UnaryOp.ABS, b)  # by the sign of a zero, which min and max leave open
    return Binary(op, a, b)


def condition(r: Random, depth: int, read: Read) -> Expr:
    if depth > 0 and r.random() < 0.3:
        op = r.choice([Op.AND, Op.OR, Op.XOR])
        return Binary(op, condition(r, depth - 1, read), condition(r, depth - 1, read))
    if r.random() < 0.1:
        return Unary(UnaryOp.NOT, condition(r, depth, read))
    t = r.choice(TYPES)
    below = max(0, depth - 1)
    op = r.choice(sorted(COMPARISONS))
    return Binary(op, expression(r, t, below, read), expression(r, t, below, read))


def leaf(r: Random, t: DType, read: Read) -> Expr:
    loaded = read(r.choice("abc"), t)
    if r.random() < 0.7 or t == BOOL:
        return loaded
    if t.is_float:
        return const(r.choice([0.5, -2.0, 3.0, 1e10]), loaded.type)
    low, high = t.limits
    numbers = [0, 1, 2, 3, 5, 16, 100, -1, -4, low, high]
    return const(r.choice([n for n in numbers if low <= n <= high]), loaded.type)
