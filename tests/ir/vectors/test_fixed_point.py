"""Pins each row of `fixed_point`: both sides have one value, for all pairs of 8 bits and many wider ones.
What the language spells becomes the operations."""

from __future__ import annotations

import ast
from random import Random

import numpy as np
import pytest

from hbc.ir.algebra.facts import NOTHING
from hbc.ir.algebra.rewrite import Bindings, Rule, compile_rule
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import I8, I16, I32, I64, U8, U16, U32, DType
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.vectors.fixed_point import RULES, fixed_point

NARROW = (U8, I8, U16, I16, U32, I32)
WIDE = (I16, U16, I32, U32, I64)
OPERATORS = {ast.Add: ir.Op.ADD, ast.Sub: ir.Op.SUB, ast.Mult: ir.Op.MUL, ast.RShift: ir.Op.SHR,
             ast.BitAnd: ir.Op.AND, ast.BitOr: ir.Op.OR, ast.BitXor: ir.Op.XOR,
             ast.Lt: ir.Op.LT, ast.LtE: ir.Op.LE}  # fmt: skip


def operands(t: DType) -> tuple[Array, Array]:
    low, high = t.limits
    if t.bits == 8:
        every = np.arange(low, high + 1).astype(numpy_dtype(t))
        return np.repeat(every, 256), np.tile(every, 256)
    r = np.random.default_rng(t.bits)
    edges = np.array([low, low + 1, max(low, -1), 0, 1, high // 2, high // 2 + 1, high - 1, high])
    some = np.concatenate(
        [edges, r.integers(low, high + 1, 111), r.integers(-99, 99, 40).clip(low)]
    )
    some = some.astype(numpy_dtype(t))
    return np.repeat(some, len(some)), np.tile(some, len(some))


def instance(p: ast.expr, narrow: DType, wide: DType, literals: dict[str, int], n: int) -> ir.Expr:
    """The left side with x and y of the one type, widened to the other."""

    def make(p: ast.expr, t: DType) -> ir.Expr:
        match p:
            case ast.Constant(value=int() as value):
                return const(value, t(n))
            case ast.Name(id=name) if name in literals:
                return const(literals[name], t(n))
            case ast.Name(id=name):
                return ir.Load(name, ir.Ramp(ir.const_index(0), ir.const_index(1), n), narrow(n))
            case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
                return ir.Binary(OPERATORS[type(op)], make(a, t), make(b, t))
            case ast.Call(func=ast.Name(id="cast"), args=[ast.Name(id=to), a]):
                target = wide if to == "u" else narrow
                return ir.Cast(target(n), make(a, narrow if to == "u" else wide))
            case ast.Call(func=ast.Name(id="abs"), args=[a]):
                return ir.Unary(ir.UnaryOp.ABS, make(a, t))
            case ast.Call(func=ast.Name(id="select"), args=[c, a, b]):
                return ir.Select(make(c, t), make(a, t), make(b, t))
            case ast.Call(func=ast.Name(id=name), args=[a, b]):
                return ir.Binary(ir.Op(name), make(a, t), make(b, t))
            case _:
                raise ValueError(ast.unparse(p))

    return make(p, wide if "cast(u" in ast.unparse(p) else narrow)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_both_sides_have_the_same_value(rule: Rule) -> None:
    compiled, left = compile_rule(rule), ast.parse(rule.left, mode="eval").body
    r, seen = Random(rule.name), 0
    for t in NARROW:
        x, y = operands(t)
        for wide in WIDE:
            for _ in range(4):
                literals = {
                    "c0": r.choice([t.limits[1], t.bits]),
                    "c1": r.choice([t.limits[0], 3, 181]),
                }
                e = instance(left, t, wide, literals, len(x))
                found: Bindings = {}
                if not compiled.match(e, found) or (rule.guard and not rule.guard(found, NOTHING)):
                    continue
                made = compiled.make(found, e)
                assert isinstance(made, ir.Expr)
                assert made.type == e.type
                given = {"x": x, "y": y}
                before, after = evaluate(e, {}, given), evaluate(made, {}, given)
                wrong = np.flatnonzero(before != after)
                assert not len(wrong), f"{show(e)}: {x[wrong[0]]}, {y[wrong[0]]}"
                seen += 1
    assert seen


SPELLINGS = {
    "u8x8((u16x8(a:u8x8) + u16x8(b:u8x8) + x8(1:u16)) / x8(2:u16))": "avgup(a:u8x8, b:u8x8)",
    "u8x8((i32x8(a:u8x8) + i32x8(b:u8x8)) >> x8(1:i32))": "avg(a:u8x8, b:u8x8)",
    "u8x8(min(i16x8(a:u8x8) + i16x8(b:u8x8), x8(255:i16)))": "addsat(a:u8x8, b:u8x8)",
    "i8x8(max(min(i16x8(a:i8x8) - i16x8(b:i8x8), x8(127:i16)), x8(-128:i16)))":
        "subsat(a:i8x8, b:i8x8)",
    "u8x8(abs(i16x8(a:u8x8) - i16x8(b:u8x8)))": "absd(a:u8x8, b:u8x8)",
    "i16x8(i32x8(a:i16x8) * x8(181:i32) >> x8(16:i32))": "mulhi(a:i16x8, x8(181:i16))",
    "i16x8((i32x8(a:i16x8) * i32x8(b:i16x8) + x8(16384:i32)) / x8(32768:i32))":
        "mulround(a:i16x8, b:i16x8)",
    # These wrap.
    "(a:u8x8 + b:u8x8) / x8(2:u8)": "a:u8x8 + b:u8x8 >> x8(1:u8)",
    "i32x8(a:u16x8) * i32x8(b:u16x8) >> x8(16:i32)": "i32x8(a:u16x8) * i32x8(b:u16x8) >> x8(16:i32)",
    # C compilers know the best for scalars.
    "u8((u16(a:u8) + u16(b:u8)) / 2:u16)": "u8((u16(a:u8) + u16(b:u8)) / 2:u16)",
}  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings(text: str) -> None:
    assert show(fixed_point(read_expr(text))) == SPELLINGS[text]
