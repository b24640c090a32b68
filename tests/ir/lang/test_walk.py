"""Pins the traversals: every kind of node is known to them, and what does not change stays."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
import statements
import trees
from hypothesis import given, settings

from hbc.ir.lang import walk
from hbc.ir.lang.nodes import (
    Access,
    Allocate,
    Assert,
    Barrier,
    Binary,
    Block,
    Broadcast,
    BulkCopy,
    BulkGroup,
    BulkWait,
    Call,
    Cast,
    Comment,
    Const,
    CopyCommit,
    CopyWait,
    Expr,
    Fence,
    FenceKind,
    For,
    Gather,
    If,
    Instruct,
    Leave,
    Let,
    LetStmt,
    Load,
    LoopKind,
    MathOp,
    Move,
    Node,
    Op,
    Prefetch,
    Ramp,
    Select,
    Stmt,
    Store,
    Tuple,
    Unary,
    UnaryOp,
    Var,
    VectorReduce,
    const_bool,
    const_index,
)
from hbc.ir.lang.read import read_expr, read_stmt
from hbc.ir.lang.show import show
from hbc.ir.lang.types import BOOL, F32, I64, INDEX, Memory
from hbc.ir.lang.walk import (
    children,
    free_variables,
    map_children,
    map_stmt,
    names_read,
    nodes,
    operands,
    substitute,
    substitute_stmt,
)  # fmt: skip

i, j, x = Var("i"), Var("j"), Var("x", F32(4))
four, mask = Var("v", I64(4)), Var("m", BOOL(4))
empty = Block(())

ONE_OF_EACH: list[Node] = [
    Const(1.5, F32(1)), i, Cast(F32(1), i), Binary(Op.ADD, i, j), Unary(UnaryOp.NEG, i),
    Select(const_bool(True), i, j), Access("A", (i, j), F32(1)), Load("A", four, F32(4), mask),
    Call(MathOp.EXP, (x,), F32(4)), Ramp(i, j, 4), Broadcast(i, 4), VectorReduce(Op.ADD, x, 2),
    Gather(x, (3, 0)), Let("t", i, j), Tuple((i, j)), Move(Memory.HEAP, Memory.REGISTER, x),
    Store("A", four, x, mask), Prefetch("A", i, F32), For("k", i, j, LoopKind.SERIAL, empty),
    Block((Comment("one"), Comment("two"))), LetStmt("t", i, empty),
    Allocate("t", F32, i, Memory.STACK, empty), If(const_bool(True), empty, Comment("else")),
    Assert(const_bool(True), "why"), Leave("k", const_bool(True)), Comment("why"), Barrier(),
    CopyCommit(), CopyWait(1), Fence(FenceKind.STORES),
    BulkCopy("s", i, "A", F32, (i, j), (i, j), (j, j), (j, i), (8, 4), empty), BulkGroup("t", i, empty),
    BulkWait("t", i, j),
    Instruct("dot", (("M", 4), ("K", 8)), (x, i, j), F32(4)),
]  # fmt: skip


def test_one_of_each() -> None:
    kinds = {*get_args(Expr), *get_args(Stmt)}
    assert {type(n) for n in ONE_OF_EACH} == kinds


@pytest.mark.parametrize("n", ONE_OF_EACH, ids=lambda n: type(n).__name__)
def test_children_are_those_that_maps_see(n: Node) -> None:
    seen: list[Node] = []

    def see_expr(e: Expr) -> Expr:
        seen.append(e)
        return e

    def see_stmt(s: Stmt) -> Stmt:
        seen.append(s)
        return s

    same: Node
    if isinstance(n, Stmt):
        same = map_stmt(n, see_expr, see_stmt)
    else:
        same = map_children(n, see_expr)
        assert operands(n) == children(n)
    assert same is n
    assert tuple(seen) == children(n)


@pytest.mark.parametrize("n", ONE_OF_EACH, ids=lambda n: type(n).__name__)
def test_every_node_has_a_text_that_reads_back(n: Node) -> None:
    again = read_stmt(show(n)) if isinstance(n, Stmt) else read_expr(show(n))
    assert repr(again) == repr(n)


@settings(max_examples=100)
@given(trees.randoms)
def test_substituting_a_name_for_itself_changes_nothing(r: Random) -> None:
    e = trees.any_expr(r)
    assert substitute(e, {}) is e
    assert substitute(e, {"not there": const_index(1)}) is e
    assert substitute(e, {"i": i}) == e


@settings(max_examples=100)
@given(trees.randoms)
def test_substituting_keeps_the_value(r: Random) -> None:
    e = trees.any_expr(r)
    env = trees.values(r, e)
    new = substitute(e, {"i": const_index(env["i"])})
    assert "i" not in free_variables(new)
    assert trees.agree(trees.value_of(e, env), trees.value_of(new, env))


@settings(max_examples=50)
@given(trees.randoms)
def test_what_is_below_a_kernel(r: Random) -> None:
    body = statements.kernel(r).body
    below = list(nodes(body))
    assert [n for n in below if isinstance(n, Stmt)] == list(walk.statements(body))
    assert {n.name for n in below if isinstance(n, Var)} == names_read(body)
    assert free_variables(body) <= {"N", "W"}


def test_names_that_are_bound_again_stay() -> None:
    e = read_expr("i + (let i = i + 1 in i)")
    assert show(substitute(e, {"i": j})) == "j + (let i = j + 1 in i)"
    s = read_stmt("for i from i count 4 { A[i] = j }")
    assert show(substitute_stmt(s, {"i": j})) == "for i from j count 4 {\n    A[i] = j\n}"
    assert free_variables(s) == {"i", "j"}


def test_parents_come_first_in_reading_order() -> None:
    e = Binary(Op.ADD, Binary(Op.MUL, i, j), Cast(INDEX, j))
    assert [show(n) for n in nodes(e)] == ["i * j + i64(j)", "i * j", "i", "j", "i64(j)", "j"]


def test_deep_expressions_need_no_recursion() -> None:
    e: Expr = i
    for _ in range(50_000):
        e = Unary(UnaryOp.NEG, e)
    assert sum(1 for _ in nodes(e)) == 50_001
    assert names_read(e) == {"i"}
