"""Pins the text form of the IR: `read` gives back exactly what `show` was given."""

from __future__ import annotations

import math
from random import Random
from typing import get_args

import pytest
import statements
import trees
from hypothesis import given, settings

from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.kernel import Argument, Check, Kernel, Size, Table
from hbc.ir.lang.nodes import (
    Access,
    Allocate,
    Assert,
    Barrier,
    BarrierScope,
    Binary,
    Block,
    BulkCopy,
    BulkGroup,
    BulkWait,
    Call,
    Comment,
    Const,
    CopyCommit,
    CopyWait,
    Expr,
    Fence,
    FenceKind,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Marks,
    MathOp,
    Move,
    Op,
    Prefetch,
    Stmt,
    Store,
    Swizzle,
    Unary,
    UnaryOp,
    Var,
    VectorReduce,
    const_index,
)
from hbc.ir.lang.read import read_expr, read_kernel, read_stmt
from hbc.ir.lang.show import show, show_kernel
from hbc.ir.lang.syntax import FORMS, OPENINGS
from hbc.ir.lang.types import BF16, BOOL, F32, F64, I32, U8, Memory

i, j = Var("i"), Var("j")


@settings(max_examples=300)
@given(trees.randoms)
def test_expressions_round_trip(r: Random) -> None:
    e = trees.any_expr(r)
    assert read_expr(show(e)) == e, show(e)


@settings(max_examples=100)
@given(trees.randoms)
def test_kernels_round_trip(r: Random) -> None:
    k = statements.kernel(r)
    again = read_kernel(show_kernel(k))
    assert again == k
    assert repr(again) == repr(k), "notes, which == does not compare"


@pytest.mark.parametrize(
    "e",
    [
        Const(-0.0, F32(1)),
        Const(math.inf, F64(1)),
        Const(-math.inf, BF16(1)),
        Const(math.nan, F32(1)),
        Const(0.10000000149011612, F32(1)),
        Const(1e30, F64(1)),
        Const(5e-324, F64(1)),
        Const(-(2**63), const_index(0).type),
        Unary(UnaryOp.NEG, const_index(3)),
        Unary(UnaryOp.NEG, Unary(UnaryOp.NEG, i)),
        Binary(Op.SUB, i, Binary(Op.SUB, j, const_index(-1))),
        Binary(Op.EQ, Binary(Op.LT, i, j), Binary(Op.LT, j, i)),
        Access("A", (i, j), F32(1)),
        Call(MathOp.REINTERPRET, (Var("x", I32(4)),), F32(4)),
        Call(MathOp.EXP, (Var("x", F32(4)),), F32(4)),
        Move(Memory.AMX_TILE, Memory.HEAP, Var("x", F32(4))),
        *(VectorReduce(op, Var("x", I32(4)), 2) for op in (Op.ADD, Op.MUL, Op.MIN, Op.AND, Op.XOR)),
        *(Var(name) for name in ("let", "for", "inf", "a b", "B.in(C)", "`", "\\", "x16", "min")),
    ],
    ids=show,
)
def test_special_expressions_round_trip(e: Expr) -> None:
    assert repr(read_expr(show(e))) == repr(e)


@pytest.mark.parametrize(
    "s",
    [
        Block(()),
        Block((Comment("one"),)),
        Block((Block((Comment("x"), Comment("y"))),)),
        For("i", i, j, LoopKind.VECTOR, Block(()), 'a "quoted" note', marks=Marks(stages=3)),
        If(Binary(Op.LT, i, j), Block(()), Block((Comment("a"),))),
        If(Binary(Op.LT, i, j), If(Binary(Op.LT, i, j), Block(())), None),
        Assert(Var("b", BOOL(1)), "sizes\n`M`"),
        Barrier(),
        Barrier(BarrierScope.WARP),
        CopyCommit(products=True),
        CopyWait(1, products=True, sums=("acc", "for")),
        BulkCopy("s", i, "A", F32, (i, j), (i, j), (j, j), (j, i), (8, 4)),
        BulkCopy("bulk", i, "A", F32, (i,), (j,), (j,), (i,), (8,), Comment("by threads")),
        BulkGroup("ready", j, Comment("copies")),
        BulkWait("ready", i, j),
        Fence(FenceKind.STORES),
        Fence(FenceKind.REGISTERS, ("acc",)),
        Store("s", i, Load("t", i, U8(1)), asynchronous=True),
        Allocate("t", F32, i, Memory.SHARED, Block(()), swizzle=Swizzle(8, 128, 8, 64)),
        Prefetch("A", i, U8),
        Prefetch("A", i, U8, 3),
        Store("for", i, Const(1, U8(1)), Var("m", BOOL(1))),
        *(Store("s", i, Const(1, U8(1)), atomic=Op.ADD, warp=lanes) for lanes in (0, 4, 32)),
        Allocate("t", F32, i, Memory.AMX_TILE, Block(()), "note"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_special_statements_round_trip(s: Stmt) -> None:
    assert repr(read_stmt(show(s))) == repr(s)


@pytest.mark.parametrize("word", sorted(OPENINGS))
def test_buffers_may_be_called_as_statements_begin(word: str) -> None:
    """`leave[i] = 1` was read as `leave`, and names of sizes had backquotes that no user wrote."""
    s = Store(word, Var(word), Load(word, i, U8(1)))
    assert repr(read_stmt(show(s))) == repr(s)
    assert "`" not in show(Var(word)).replace("`if`", "")


def test_each_statement_has_a_form() -> None:
    """But for the three that are more than a row."""
    assert {form.of for form in FORMS} | {Block, Comment, LetStmt} == set(get_args(Stmt))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bulk s", "<ir>:1:6: error: expected `to` or `wait` or `copy`, found `s`"),
        ("copies s", "<ir>:1:8: error: expected `commit` or `wait`, found `s`"),
        ("leave s[i] = 1", "<ir>:1:8: error: expected `if`, found `[`"),
        ("for i from 0 to 1 {}", "<ir>:1:14: error: expected `count`, found `to`"),
    ],
)
def test_errors_of_statements_name_the_place(text: str, message: str) -> None:
    with pytest.raises(HbcError) as caught:
        read_stmt(text)
    assert str(caught.value).split("\n")[0] == message


def test_a_whole_kernel() -> None:
    k = Kernel(
        "blur",
        (Size("M"), Size("N", 16)),
        (Argument("A", BF16, (Var("M"), Var("N")), False), Argument("C", F32, (i,), True)),
        (
            Table("W", F32, (2, 2), (0.25, -0.5, 0.1015625, math.inf)),
            Table("b", BOOL, (1,), (True,)),
        ),
        (Check(Binary(Op.LE, Var("M"), Var("N")), "M is above N"),),
        Store("C", i, Const(0.5, F32(1))),
    )
    assert show_kernel(k) == (
        "kernel blur\n"
        "size M\n"
        "size N = 16\n"
        "input A: bf16[M, N]\n"
        "output C: f32[i]\n"
        "table W: f32[2, 2] = [0.25, -0.5, 0.1015625, inf]\n"
        "table b: bool[1] = [true]\n"
        'check M <= N, "M is above N"\n'
        "{\n"
        "    C[i] = 0.5:f32\n"
        "}\n"
    )
    assert read_kernel(show_kernel(k)) == k


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i +", "<ir>:1:4: error: expected a name, found the end"),
        ("f32(i", "<ir>:1:6: error: expected `)`, found the end"),
        ("i ? j", "<ir>:1:3: error: unexpected `?`"),
        ("1 2", "<ir>:1:3: error: expected the end, found `2`"),
        ("nothing(i)", "<ir>:1:1: error: expected a function, found `nothing`"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(HbcError) as caught:
        read_expr(text)
    assert str(caught.value).split("\n")[0] == message
