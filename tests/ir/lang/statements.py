"""Random statements over arrays that the interpreter can run, for tests of the IR passes."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from hbc.ir.lang.build import add, clamp, const, sub
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import (
    Allocate,
    Barrier,
    BarrierScope,
    Binary,
    Block,
    Comment,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Op,
    Prefetch,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.types import I32, INDEX, Memory
from hbc.ir.lang.walk import block
from hbc.ir.meaning.interp import run

OUT = 64  # elements of the output


def kernel(r: Random, depth: int = 4) -> Kernel:
    """A kernel of sizes N and W that writes `out` from `data`."""
    out = Argument("out", I32, (const_index(OUT),), True)
    data = Argument("data", I32, (const_index(OUT),), False)
    body = statement(r, depth, ("N", "W"))
    # Every element has a value, so that what runs is compared and nothing else.
    fill = For("z", const_index(0), const_index(OUT), LoopKind.SERIAL, zero())
    inner = body.body if isinstance(body, Block) else (body,)
    return Kernel("k", (Size("N"), Size("W")), (data, out), (), (), Block((fill, *inner)))


def zero() -> Stmt:
    return Store("out", Var("z"), const(0, I32))


def statement(r: Random, depth: int, names: tuple[str, ...]) -> Stmt:
    kind = r.random()
    if depth <= 0 or kind < 0.25:
        return store(r, names)
    if kind < 0.5:
        var = f"v{len(names)}"
        start, extent = linear(r, names), loop_extent(r, names)
        loop = r.choice([LoopKind.SERIAL, LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.THREAD])
        body = statement(r, depth - 1, (*names, var))
        return For(var, start, extent, loop, body, r.choice(["", "C.split(i, io, ii, 4)"]))
    if kind < 0.65:
        other = statement(r, depth - 1, names) if r.random() < 0.5 else None
        return If(condition(r, names), statement(r, depth - 1, names), other)
    if kind < 0.75:
        name = f"t{len(names)}"
        return LetStmt(name, linear(r, names), statement(r, depth - 1, (*names, name)))
    if kind < 0.77:
        return Barrier(r.choice(list(BarrierScope)))
    if kind < 0.8:
        return Comment(r.choice(["a # \\ ` line", "", "two\nlines"]))
    if kind < 0.85:
        return Prefetch("data", linear(r, names), I32, r.randint(1, 3))
    if kind < 0.9:
        buffer = f"m{depth}"  # no other on the way down has it
        first = Store(buffer, const_index(1), const(5, I32))
        body = block(first, statement(r, depth - 1, names))
        memory = r.choice([Memory.AUTO, Memory.HEAP, Memory.STACK, Memory.SHARED])
        return Allocate(buffer, I32, const_index(4), memory, body, r.choice(["", "at C, jo"]))
    some = [statement(r, depth - 1, names) for _ in range(r.randint(0, 3))]
    return Block(tuple(x for s in some for x in (s.body if isinstance(s, Block) else (s,))))


def store(r: Random, names: tuple[str, ...]) -> Stmt:
    lanes = r.choice([1, 1, 4])
    index = clamp(linear(r, names), 0, OUT - 4)
    if lanes > 1:
        index = Ramp(index, const_index(1), lanes)
    mask = None
    if lanes > 1 and r.random() < 0.4:
        mask = Binary(Op.LT, index, const(r.choice([10, OUT, 0]), INDEX.with_lanes(lanes)))
    old = Load(r.choice(["data", "out"]), index, I32(lanes))
    factor = const(r.choice([0, 1, 3]), I32(lanes))
    value = Binary(r.choice([Op.ADD, Op.MIN, Op.MUL]), old, factor)
    return Store("out", index, value, mask)


def linear(r: Random, names: tuple[str, ...]) -> Expr:
    a, b = Var(r.choice(names)), Var(r.choice(names))
    forms = (
        a,
        add(a, b),
        sub(a, r.randint(0, 3)),
        Binary(Op.MUL, a, const_index(r.randint(0, 4))),
        Binary(r.choice([Op.MIN, Op.MAX]), a, sub(b, 2)),
        Binary(r.choice([Op.DIV, Op.MOD]), add(a, b), const_index(r.choice([2, 4]))),
        const_index(r.randint(0, 3)),
    )
    return r.choice(forms)


def loop_extent(r: Random, names: tuple[str, ...]) -> Expr:
    return Binary(
        Op.MIN, r.choice([linear(r, names), const_index(r.randint(0, 2))]), const_index(4)
    )


def condition(r: Random, names: tuple[str, ...]) -> Expr:
    op = r.choice([Op.LT, Op.LE, Op.GE, Op.EQ, Op.NE])
    first = Binary(op, linear(r, names), linear(r, names))
    if r.random() < 0.6:
        return first
    return Binary(r.choice([Op.AND, Op.OR]), first, condition(r, names))


def result(k: Kernel, sizes: dict[str, int]) -> Any:
    """What `out` holds after a run."""
    out = np.full(OUT, -7, np.int32)
    data = np.arange(OUT, dtype=np.int32) * 37 % 101
    run(k, sizes, {"data": data, "out": out})
    return out
