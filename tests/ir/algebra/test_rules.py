"""Pins every rewrite rule by itself: on random instances both sides have the same value."""

from __future__ import annotations

import ast
from random import Random

import pytest
import trees

from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.rewrite import Bindings, Bound, Rule, compile_rule
from hbc.ir.algebra.rules import REWRITER
from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Binary,
    Broadcast,
    Cast,
    Const,
    Expr,
    Op,
    Ramp,
    Select,
    Unary,
    UnaryOp,
)  # fmt: skip
from hbc.ir.lang.show import show
from hbc.ir.lang.types import BOOL, F32, I8, I16, I32, I64, U8, DType, Type

DRAWS = 400
WANTED = 8  # instances of each rule that its guard lets through

OPERATORS = {
    ast.Add: Op.ADD, ast.Sub: Op.SUB, ast.Mult: Op.MUL, ast.Div: Op.DIV, ast.BitAnd: Op.AND,
    ast.BitOr: Op.OR,
}  # fmt: skip


def draw(rule: Rule, r: Random) -> Expr | None:
    """An instance of the left side; None when the types did not fit."""
    element = r.choice([I32, U8, I8, I16, F32, BOOL, I64])
    found: Bindings = {"n": 2, "m": 3}
    found["op"] = r.choice([Op.ADD, Op.MIN, Op.MUL, Op.LT, Op.AND])
    found["rel"] = r.choice(sorted(COMPARISONS))
    found |= {"t": r.choice([I8, U8, I32, F32, BOOL]), "u": r.choice([U8, I16, I32, F32])}
    try:
        return node(
            ast.parse(rule.left, mode="eval").body, Type(element, r.choice([1, 2])), found, r
        )
    except TypeError:
        return None


def node(p: ast.expr, t: Type, found: Bindings, r: Random) -> Expr:
    """The pattern as a tree of type `t`, with nothing folded."""
    match p:
        case ast.Name(id=("true" | "false") as name):
            if t.element != BOOL:
                raise TypeError(name)
            return const(name == "true", t)
        case ast.Constant(value=int() as value):
            return const(value, t)
        case ast.Name(id=name):
            return leaf(name, t, found, r)
        case ast.BinOp(left=a, op=op, right=b):
            return Binary(OPERATORS[type(op)], node(a, t, found, r), node(b, t, found, r))
        case ast.UnaryOp(op=uop, operand=a):
            kind = UnaryOp.NEG if isinstance(uop, ast.USub) else UnaryOp.NOT
            if (t.element == BOOL) == (kind is UnaryOp.NEG) or t.element.is_float > (
                kind is UnaryOp.NEG
            ):
                raise TypeError(kind)
            return Unary(kind, node(a, t, found, r))
        case ast.Call(func=ast.Name(id=name), args=args):
            return call(name, args, t, found, r)
        case _:
            raise ValueError(ast.unparse(p))


def call(name: str, args: list[ast.expr], t: Type, found: Bindings, r: Random) -> Expr:
    match name, args:
        case (("min" | "max"), [a, b]):
            return Binary(Op(name), node(a, t, found, r), node(b, t, found, r))
        case (("op" | "rel"), [a, b]):
            op = found[name]
            assert isinstance(op, Op)
            return Binary(op, node(a, t, found, r), node(b, t, found, r))
        case "abs", [a] if t.element != BOOL:
            return Unary(UnaryOp.ABS, node(a, t, found, r))
        case "select", [c, a, b]:
            condition = node(c, Type(BOOL, t.lanes), found, r)
            return Select(condition, node(a, t, found, r), node(b, t, found, r))
        case "cast", [ast.Name(id=to), a]:
            target = found[to]
            assert isinstance(target, DType)
            value = node(a, t, found, r)
            return Cast(Type(target, value.type.lanes), value)
        case "broadcast", [a, n]:
            return Broadcast(node(a, t, found, r), count(n, found))
        case "ramp", [a, b, n]:
            if not t.element.is_int:
                raise TypeError("ramp")
            lanes = count(n, found)
            return Ramp(node(a, t, found, r), node(b, t, found, r), lanes)
        case "abs", _:
            raise TypeError(name)
        case _:
            raise ValueError(name)


def count(p: ast.expr, found: Bindings) -> int:
    if isinstance(p, ast.Constant):
        return int(str(p.value))
    assert isinstance(p, ast.Name)
    lanes = found[p.id]
    assert isinstance(lanes, int)
    return lanes


def leaf(name: str, t: Type, found: Bindings, r: Random) -> Expr:
    """What a name stands for; what it stood for before, if that has the type."""
    if name in found:
        old: Bound = found[name]
        assert not isinstance(old, int | DType | Op)
        if old.type != t:
            raise TypeError(name)
        return old
    if name[0] == "c" and name[1:].isdigit():
        made = const(r.choice([0, 1, 2, 4, 0.5, 100, -3]), t)
    else:
        made = trees.expr(r, t, r.randint(0, 2))
    found[name] = made
    return made


def well_typed(e: Expr) -> bool:
    return not any(
        isinstance(n, Binary)
        and (
            (n.type.element == BOOL and n.a.type.element == BOOL and n.op not in LOGICAL)
            or (n.a.type.element.is_float and n.op in (Op.AND, Op.OR))
        )
        for n in trees.nodes(e)
    )


LOGICAL = COMPARISONS | {Op.AND, Op.OR, Op.XOR}


@pytest.mark.parametrize("rule", REWRITER.rules, ids=lambda rule: str(rule.name))
def test_both_sides_have_the_same_value(rule: Rule) -> None:
    r = Random(rule.name)
    compiled = compile_rule(rule)
    seen = 0
    for _ in range(DRAWS):
        left = draw(rule, r)
        found: Bindings = {}
        if left is None or not well_typed(left) or not compiled.match(left, found):
            continue
        if rule.guard is not None and not rule.guard(found, Facts()):
            continue
        right = compiled.make(found, left)
        assert isinstance(right, Expr)
        assert right.type == left.type, f"{show(left)}\n{show(right)}"
        seen += 1
        for _ in range(3):
            env = trees.values(r, left)
            before, after = trees.value_of(left, env), trees.value_of(right, env)
            signs = not trees.picks_zero(left)
            assert trees.agree(before, after, signs), f"{show(left)}\n{show(right)}\n{env}"
        if seen >= WANTED:
            return
    assert seen > 0, "no instance was found: the rule says nothing, or this test cannot draw it"


def test_literals_are_not_taken_for_truth_values() -> None:
    one, zero = const(1, F32), const(0, F32)
    e = Select(trees.boolean(Random(1), 0, 1), one, zero)
    assert REWRITER.apply(e, Facts()) is e
    assert isinstance(one, Const)
