"""Hand-written kernels: loops, vectors, masks, tables, and everything that must be refused."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from hbc.ir.lang.kernel import Argument, Check, Kernel, Size, Table
from hbc.ir.lang.nodes import (
    Allocate,
    Assert,
    Binary,
    Broadcast,
    Cast,
    Comment,
    Const,
    Expr,
    For,
    Gather,
    If,
    Let,
    LetStmt,
    Load,
    LoopKind,
    MathOp,
    Move,
    Op,
    Prefetch,
    Ramp,
    Select,
    Stmt,
    Store,
    Unary,
    UnaryOp,
    Var,
    VectorReduce,
    const_bool,
    const_index,
)
from hbc.ir.lang.nodes import Call as MathCall
from hbc.ir.lang.types import BF16, BOOL, CONDITION, F32, I32, I64, INDEX, U8, Memory
from hbc.ir.lang.walk import block
from hbc.ir.meaning.interp import InterpError, evaluate, run
from hbc.ir.meaning.interp_code import Code
from hbc.ir.meaning.interp_expr import emit

N, M = Var("N"), Var("M")


def c(value: int) -> Const:
    return const_index(value)


def add(a: Expr, b: Expr) -> Expr:
    return Binary(Op.ADD, a, b)


def mul(a: Expr, b: Expr) -> Expr:
    return Binary(Op.MUL, a, b)


def loop(var: str, extent: Expr, body: Stmt, kind: LoopKind = LoopKind.SERIAL) -> Stmt:
    return For(var, c(0), extent, kind, body)


def kernel(body: Stmt, *arguments: Argument, **more: Any) -> Kernel:
    sizes = more.pop("sizes", (Size("N"),))
    return Kernel("k", sizes, arguments, more.pop("tables", ()), more.pop("checks", ()), body)


A = Argument("A", F32, (N,), output=False)
C = Argument("C", F32, (N,), output=True)


def load(buffer: str, index: Expr, element: Any = F32, mask: Expr | None = None) -> Load:
    return Load(buffer, index, element(index.type.lanes), mask)


def call(body: Stmt, n: int = 8, **arrays: Any) -> np.ndarray[Any, Any]:
    a = np.arange(n, dtype=np.float32) + 1
    out = np.full(n, np.nan, np.float32)
    run(kernel(body, A, C), {"N": n}, {"A": a, "C": out} | arrays)
    return out


def copy_loop() -> Stmt:
    return loop("i", N, Store("C", Var("i"), load("A", Var("i"))))


@pytest.mark.parametrize("kind", list(LoopKind))
def test_loops_of_every_kind(kind: LoopKind) -> None:
    out = call(loop("i", N, Store("C", Var("i"), load("A", Var("i"))), kind))
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_empty_loops_and_arrays() -> None:
    call(copy_loop(), n=0)
    call(loop("i", Binary(Op.SUB, c(0), c(3)), Store("C", c(99), load("A", c(99)))))


def test_matrix_product_is_fast_and_right() -> None:
    K = Var("K")
    i, j, k = Var("i"), Var("j"), Var("k")
    args = (
        Argument("A", F32, (M, K), False),
        Argument("B", F32, (K, N), False),
        Argument("C", F32, (M, N), True),
    )
    a = load("A", add(mul(i, Var("A_stride0")), k))
    b = load("B", add(mul(k, Var("B_stride0")), j))
    at = add(mul(i, Var("C_stride0")), j)
    body = block(
        Store("C", at, Const(0.0, F32())),
        loop("k", K, Store("C", at, add(load("C", at), mul(a, b)))),
    )
    made = kernel(loop("i", M, loop("j", N, body)), *args, sizes=(Size("M"), Size("N"), Size("K")))
    rng = np.random.default_rng(1)
    x, y = rng.random((40, 9), np.float32), rng.random((9, 50), np.float32)
    wide = np.full((40, 64), np.nan, np.float32)
    started = time.process_time()
    run(made, {"M": 40, "N": 50, "K": 9}, {"A": x, "B": y, "C": wide[:, :50]})
    assert time.process_time() - started < 1
    want = np.zeros((40, 50), np.float32)
    for step in range(9):
        want = want + x[:, step, None] * y[step]
    assert np.array_equal(wide[:, :50], want)
    assert np.isnan(wide[:, 50:]).all()


def test_deep_nests_go_beyond_pythons_limit() -> None:
    body: Stmt = Store("C", c(0), add(load("C", c(0)), Const(1.0, F32())))
    for n in range(30):
        body = loop(f"i{n}", c(2 if n % 10 == 0 else 1), body)
    out = call(block(Store("C", c(0), Const(0.0, F32())), body))
    assert out[0] == 8


def lanes_at(e: Expr) -> Expr:
    """Four lanes from a place on."""
    return Ramp(e, c(1), 4)


def test_what_loops_do_not_change_is_computed_before_them() -> None:
    """In both branches of a condition, 14 loops deep, and after a value that is loaded anew each time."""
    far, near = mul(add(N, c(3)), c(2)), add(mul(Var("i"), c(4)), c(0))
    there = Binary(Op.LT, lanes_at(near), Broadcast(far, 4))
    once = load("C", lanes_at(near))
    then = Store("C", lanes_at(near), add(once, load("A", lanes_at(near))), there)
    other = Store("C", lanes_at(near), add(once, Broadcast(Const(2.0, F32()), 4)), there)
    body: Stmt = If(Binary(Op.EQ, Binary(Op.MOD, Var("i"), c(2)), c(0)), then, other)
    body = loop("i", Binary(Op.DIV, N, c(4)), body)
    for n in range(14):
        body = loop(f"o{n}", c(2 if n == 5 else 1), body)
    out = call(block(loop("z", N, Store("C", Var("z"), Const(0.0, F32()))), body), n=12)
    a = np.arange(12) + 1
    want = np.where(np.arange(12) // 4 % 2 == 0, 2 * a, 4)
    assert out.tolist() == want.tolist()


def test_values_are_computed_once_where_their_names_are() -> None:
    code = Code(variables={"n": "s1"})
    with code.loop("i2", "range(3)"):
        for _ in range(2):
            code.line(emit(code, Binary(Op.MIN, Var("n"), c(4))))
            with code.indented("if i2:") as suite:
                code.line(emit(code, Binary(Op.MAX, Var("n"), c(9))))
            with code.indented("else:", after=suite):
                code.line(emit(code, Binary(Op.MIN, Var("n"), c(7))))
    lines = [line for line in code.source("def f(s1):").splitlines() if " = " in line]
    assert len(lines) == len({line.split(" = ")[1] for line in lines}) == 3
    assert all(line.startswith("    t") for line in lines)


def test_ramps_nest() -> None:
    inner = Ramp(Var("x"), c(1), 3)
    outer = Ramp(inner, Broadcast(c(10), 3), 2)
    assert evaluate(outer, {"x": 5}, {}).tolist() == [5, 6, 7, 15, 16, 17]
    assert evaluate(Broadcast(inner, 2), {"x": 0}, {}).tolist() == [0, 1, 2, 0, 1, 2]


def test_vector_reduce_takes_adjacent_runs() -> None:
    lanes = Ramp(c(1), c(1), 6)
    assert evaluate(VectorReduce(Op.ADD, lanes, 2), {}, {}).tolist() == [6, 15]
    assert evaluate(VectorReduce(Op.MAX, lanes, 1), {}, {}).tolist() == [6]
    assert evaluate(VectorReduce(Op.MUL, lanes, 3), {}, {}).tolist() == [2, 12, 30]
    pairs = Cast(BF16(6), lanes)
    assert evaluate(VectorReduce(Op.ADD, pairs, 2), {}, {}).tolist() == [6, 15]


def test_gather_minus_one_is_zero() -> None:
    lanes = Ramp(c(7), c(1), 3)
    assert evaluate(Gather(lanes, (2, -1, 0, 0)), {}, {}).tolist() == [9, 0, 7, 7]
    assert evaluate(Gather(lanes, (1,)), {}, {}).tolist() == [8]
    assert evaluate(Gather(c(4), (0, -1)), {}, {}).tolist() == [4, 0]


def test_select_let_move_and_calls() -> None:
    x = Var("x")
    lanes = Ramp(x, c(1), 4)
    mask = Binary(Op.LT, lanes, Broadcast(c(2), 4))
    picked = Select(mask, lanes, Unary(UnaryOp.NEG, lanes))
    assert evaluate(picked, {"x": 0}, {}).tolist() == [0, 1, -2, -3]
    shadowed = Let("x", c(3), add(x, Let("x", c(10), x)))
    assert evaluate(add(shadowed, x), {"x": 100}, {}).tolist() == [113]
    moved = Move(Memory.STACK, Memory.AMX_TILE, x)
    assert evaluate(moved, {"x": 6}, {}).tolist() == [6]
    root = MathCall(MathOp.SQRT, (Cast(F32(), x),), F32())
    assert evaluate(root, {"x": 2}, {}).tolist() == [np.sqrt(np.float32(2))]


def test_masked_lanes_touch_nothing() -> None:
    lanes = Ramp(c(4), c(1), 8)
    mask = Binary(Op.LT, lanes, Broadcast(N, 8))
    out = call(Store("C", lanes, load("A", lanes, mask=mask), mask))
    assert out[4:].tolist() == [5, 6, 7, 8]
    assert np.isnan(out[:4]).all()
    scalar = load("A", c(99), mask=const_bool(False))
    assert call(Store("C", c(0), scalar))[0] == 0


def test_tables_lets_checks_and_branches() -> None:
    table = Table("T", I32, (2, 2), (1, 2, 3, 4))
    out = np.zeros(4, np.int32)
    i = Var("i")
    then = Store("O", i, load("T", Var("j"), I32))
    other = Store("O", i, Const(-1, I32()))
    choose = If(Binary(Op.NE, i, c(1)), then, other)
    body = block(
        Comment("a note"),
        Prefetch("O", c(10**6), I32),
        Assert(Binary(Op.LT, N, c(9)), "too long"),
        loop("i", N, LetStmt("j", Binary(Op.SUB, c(3), i), choose)),
    )
    check = Check(Binary(Op.GT, N, c(2)), "N is small")
    made = kernel(body, Argument("O", I32, (N,), True), tables=(table,), checks=(check,))
    run(made, {"N": 4}, {"O": out})
    assert out.tolist() == [4, -1, 2, 1]
    with pytest.raises(InterpError, match=r"^N is small$"):
        run(made, {"N": 1}, {"O": out[:1]})
    with pytest.raises(InterpError, match=r"^too long$"):
        run(made, {"N": 10}, {"O": np.zeros(10, np.int32)})


def refused(body: Stmt, message: str, **arrays: Any) -> None:
    with pytest.raises(InterpError, match=message):
        call(body, **arrays)


def test_accesses_outside_are_refused() -> None:
    beyond = Store("C", Var("i"), load("A", add(Var("i"), c(1))))
    refused(loop("i", N, beyond), r"load of `A` at offset 8, outside its 8 elements .*i = 7")
    refused(Store("C", c(-1), load("A", c(0))), "store to `C` at offset -1, outside its 8")
    lanes = Ramp(c(4), c(1), 8)
    refused(Store("C", lanes, load("A", lanes)), "load of `A` at offset 8")
    zeros = Broadcast(Const(0.0, F32()), 8)
    refused(Store("C", lanes, zeros), "store to `C` at offset 8")
    refused(Store("A", c(0), Const(0.0, F32())), "store to `A`, which is an input")
    refused(Store("A", Ramp(c(0), c(1), 8), zeros), "store to `A`, which is an input")


def test_reading_what_was_never_stored_is_refused() -> None:
    refused(Store("C", c(0), load("C", c(1))), "load of `C` at offset 1, which was never stored")
    body = block(
        Store("T", Ramp(c(0), c(1), 3), Broadcast(Const(1.0, F32()), 3)),
        Store("C", Ramp(c(0), c(1), 4), load("T", Ramp(c(0), c(1), 4))),
    )
    fresh = Allocate("T", F32, c(4), Memory.STACK, body)
    refused(fresh, "load of `T` at offset 3, which was never stored")
    out = np.zeros(8, np.float32)
    run(kernel(fresh, A, C), {"N": 8}, {"A": out, "C": out.copy()}, strict=False)
    again = loop("i", c(2), Allocate("T", F32, c(1), Memory.STACK, block(
        If(Binary(Op.EQ, Var("i"), c(0)), Store("T", c(0), Const(1.0, F32()))),
        Store("C", c(0), load("T", c(0))),
    )))  # fmt: skip
    refused(again, "never stored .*i = 1")


def test_unread_garbage_is_not_zero() -> None:
    for element in (U8, I32, I64):
        body = Allocate("T", element, c(16), Memory.HEAP,
            Store("O", Ramp(c(0), c(1), 16), load("T", Ramp(c(0), c(1), 16), element)))  # fmt: skip
        made = kernel(body, Argument("O", element, (N,), True))
        out = np.zeros(16, f"{element.kind}{element.bits}")
        run(made, {"N": 16}, {"O": out}, strict=False)
        assert len(set(out.tolist())) > 10


def test_strided_arguments() -> None:
    i, j = Var("i"), Var("j")
    args = (Argument("A", F32, (M, N), False), Argument("C", F32, (M, N), True))
    at_a = add(mul(i, Var("A_stride0")), j)
    at_c = add(mul(i, Var("C_stride0")), j)
    body = loop("i", M, loop("j", N, Store("C", at_c, load("A", at_a))))
    made = kernel(body, *args, sizes=(Size("M"), Size("N")))
    big = np.arange(60, dtype=np.float32).reshape(6, 10)
    source = big[::2, 3:7]
    out = np.zeros((3, 8), np.float32)
    run(made, {"M": 3, "N": 4}, {"A": source, "C": out[:, 2:6]})
    assert np.array_equal(out[:, 2:6], source)
    gap = kernel(Store("C", c(0), load("A", c(4))), *args, sizes=(Size("M"), Size("N")))
    with pytest.raises(InterpError, match="`A` at offset 4, between two rows"):
        run(gap, {"M": 3, "N": 4}, {"A": source, "C": out[:, 2:6]})
    with pytest.raises(InterpError, match="`A` has a last stride of 2 elements"):
        run(made, {"M": 6, "N": 5}, {"A": big[:, ::2], "C": np.zeros((6, 5), np.float32)})
    with pytest.raises(InterpError, match="`A` has a stride of -40 bytes"):
        run(made, {"M": 6, "N": 10}, {"A": big[::-1], "C": np.zeros((6, 10), np.float32)})


def test_what_is_passed_must_fit() -> None:
    a, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    made = kernel(copy_loop(), A, C)
    for sizes, arrays, message in (
        ({}, {"A": a, "C": out}, "the size `N` is missing"),
        ({"N": -1}, {"A": a, "C": out}, "the size `N` is -1"),
        ({"N": 4}, {"A": a}, "the array `C` is missing"),
        ({"N": 4}, {"A": a.astype(float), "C": out}, "`A` is float64, not f32"),
        ({"N": 5}, {"A": a, "C": out}, r"`A` has shape \(4,\), not \(5,\)"),
    ):
        with pytest.raises(InterpError, match=message):
            run(made, sizes, arrays)
    fixed = kernel(copy_loop(), A, C, sizes=(Size("N", 8),))
    with pytest.raises(InterpError, match="the size `N` is fixed to 8"):
        run(fixed, {"N": 4}, {"A": a, "C": out})


def test_bools_in_memory() -> None:
    flags = Argument("F", BOOL, (N,), True)
    lanes = Ramp(c(0), c(1), 4)
    body = Store("F", lanes, Binary(Op.LT, lanes, Broadcast(c(2), 4)))
    out = np.zeros(4, np.bool_)
    run(kernel(body, flags), {"N": 4}, {"F": out})
    assert out.tolist() == [True, True, False, False]
    one = Store("F", c(3), Unary(UnaryOp.NOT, Load("F", c(3), CONDITION)))
    out[:] = True
    run(kernel(block(Store("F", c(3), const_bool(False)), one), flags), {"N": 4}, {"F": out})
    assert out[3]


def test_evaluate_reads_buffers_flat() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    lanes = Ramp(Var("i"), c(2), 2)
    assert evaluate(load("A", lanes), {"i": 1}, {"A": a}).tolist() == [1, 3]
    wide = Var("v", INDEX.with_lanes(2))
    assert evaluate(add(wide, wide), {"v": [1, 2]}, {}).tolist() == [2, 4]
