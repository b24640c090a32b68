"""Pins the width of indices: bounds hold for everything a kernel computes, and the launch chooses."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of, poisoned

from hbc.codegen.plan.index_width import LIMIT, Bound, index_bounds
from hbc.ir.lang.nodes import (
    Binary,
    Block,
    Const,
    Expr,
    For,
    Load,
    LoopKind,
    Op,
    Select,
    Stmt,
    Store,
    Unary,
    UnaryOp,
    Var,
)  # fmt: skip
from hbc.ir.lang.types import BOOL, F32, I32, INDEX

HOST = ("M", "N", "S", "k")
OPS = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD, Op.MIN, Op.MAX)


def drawn(source: random.Random, names: tuple[str, ...], depth: int) -> Expr:
    """An index expression of these names."""
    if depth == 0 or source.random() < 0.2:
        if source.random() < 0.7:
            return Var(source.choice(names), INDEX)
        return Const(source.randint(-9, 200), INDEX)
    inner = [drawn(source, names, depth - 1) for _ in range(3)]
    match source.randrange(10):
        case 0:
            return Unary(UnaryOp.NEG, inner[0])
        case 1:
            return Select(Binary(Op.LT, inner[2], inner[1]), inner[0], inner[1])
        case 2:
            return Binary(Op.MIN, Binary(Op.MAX, inner[0], inner[1]), inner[2])
        case _:
            return Binary(source.choice(OPS), inner[0], inner[1])


def parts(e: Expr) -> Iterator[Expr]:
    match e:
        case Binary(a=a, b=b):
            inner: tuple[Expr, ...] = (a, b)
        case Unary(a=a):
            inner = (a,)
        case Select(condition=Binary(a=x, b=y), a=a, b=b):
            inner = (x, y, a, b)
        case _:
            inner = ()
    yield e
    for part in inner:
        yield from parts(part)


def value(e: Expr, known: Mapping[str, int]) -> int:
    match e:
        case Const(value=v):
            return int(v)
        case Var(name=name):
            return known[name]
        case Unary(a=a):
            return -value(a, known)
        case Select(condition=Binary(a=x, b=y), a=a, b=b):
            return value(a if value(x, known) < value(y, known) else b, known)
        case Binary(op=op, a=a, b=b):
            x, y = value(a, known), value(b, known)
            if op in (Op.DIV, Op.MOD) and y == 0:
                return 0
            return {
                Op.ADD: lambda: x + y, Op.SUB: lambda: x - y, Op.MUL: lambda: x * y,
                Op.DIV: lambda: x // y, Op.MOD: lambda: x % y, Op.MIN: lambda: min(x, y),
                Op.MAX: lambda: max(x, y),
            }[op]()  # fmt: skip
    raise AssertionError(e)


def holds(bounds: list[Bound], host: Mapping[str, int]) -> float:
    """The largest that the bounds allow."""
    return max(
        sum(f * prod(abs(host[n]) for n in term) for term, f in bound.items()) for bound in bounds
    )


def kernel(index: Expr, count: Expr) -> tuple[list[For], Stmt]:
    """A block's body that stores at an index which depends on a loop."""
    store = Store("C", index, Load("A", index, F32(1)))
    loop = For("t", Const(0, INDEX), count, LoopKind.SERIAL, store)
    block = For("b", Const(0, INDEX), Var("M", INDEX), LoopKind.BLOCK, loop)
    return [block], loop


@pytest.mark.parametrize("seed", range(60))
def test_no_part_of_an_index_is_beyond_the_bound(seed: int) -> None:
    """Neither the index nor anything that it is computed from, whatever the host's names are; what is
    below the limit anyway is not looked at."""
    source = random.Random(seed)
    e = drawn(source, ("M", "N", "S", "k", "t", "b"), 4)
    found = index_bounds(*kernel(e, Var("N", INDEX)))
    if found is None:
        return  # too many terms
    for _ in range(300):
        host = {name: int(2 ** source.uniform(0, 20)) for name in HOST}
        host["k"] -= source.randrange(2) * 2 * host["k"]
        inner = {"b": source.randrange(host["M"]), "t": source.randrange(host["N"])}
        most = max(abs(value(part, {**host, **inner})) for part in parts(e))
        assert most <= LIMIT or (found and most <= holds(found, host))


def test_bounds_are_near() -> None:
    """What dense rows span, and a block more."""
    row, t = Var("S", INDEX), Var("t", INDEX)
    tile = Binary(Op.ADD, Binary(Op.MUL, Var("b", INDEX), Const(64, INDEX)), t)
    index = Binary(Op.ADD, Binary(Op.MUL, tile, row), t)
    store = Store("C", index, Const(0.0, F32(1)))
    threads = For("t", Const(0, INDEX), Const(64, INDEX), LoopKind.THREAD, store)
    blocks = Binary(Op.DIV, Binary(Op.ADD, Var("M", INDEX), Const(63, INDEX)), Const(64, INDEX))
    found = index_bounds([For("b", Const(0, INDEX), blocks, LoopKind.BLOCK, threads)], threads)
    assert found is not None
    assert found[0][("M", "S")] == 1
    assert found[0][("S",)] <= 3 * 64


def test_constants_need_no_test() -> None:
    store = Store("C", Var("t", INDEX), Const(0.0, F32(1)))
    loop = For("t", Const(0, INDEX), Const(64, INDEX), LoopKind.THREAD, store)
    assert index_bounds([], loop) == []


def test_values_of_64_bits_stay() -> None:
    store = Store("C", Const(0, INDEX), Load("A", Const(0, INDEX), INDEX))
    assert index_bounds([], Block((store,))) is None


def test_indices_that_are_data() -> None:
    """Of 32 bits they fit; where a clamp bounds them, the address does too."""
    from hbc.ir.lang.nodes import Cast

    data = Cast(INDEX, Load("I", Const(0, INDEX), I32(1)))
    clamped = Binary(Op.MIN, Binary(Op.MAX, data, Const(0, INDEX)), Var("N", INDEX))
    index = Binary(Op.MUL, clamped, Const(4, INDEX))
    found = index_bounds([], Store("C", index, Const(True, BOOL(1))))
    assert found is not None
    assert {("N",)} <= set(found[0])
    assert found[0][("N",)] == 4


COPY = """
kernel rows
size M, N
input A: f32[M, N]
output C: f32[M, N]
C[i, j] = A[i, N - 1 - j]
schedule simt for cuda {
    C.tile(i, j, io, jo, ii, ji, 4, 32).gpu_blocks(io, jo).gpu_threads(ii, ji)
}
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> CudaLibrary:
    return CudaLibrary(cuda_of(COPY), tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize("stride", [50, 1 << 20, 1 << 28, 1 << 33])
def test_the_launch_chooses(
    rows: CudaLibrary, tmp_path: Path, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row, however far apart rows are said to lie: the address of a second one is never formed in
    too few bits."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "rows_C" if stride > 1 << 24 else "rows_C_64")
    shutil.copy(rows.library._name, tmp_path / "rows.so")
    own = rows.again(tmp_path / "rows.so")
    a, c = np.random.default_rng(1).random((1, 50)).astype(np.float32), poisoned((1, 50))
    assert own.call("_device_strided", 1, 50, a, stride, c, stride, None) == 0
    assert own.call("_wait", None) == 0
    np.testing.assert_array_equal(c, a[:, ::-1])


def test_both_kernels_are_the_same(tmp_path: Path) -> None:
    """The wide one, where the narrow one would do."""
    source = cuda_of(COPY)
    text, count = re.subn(r"return most <= INT32_MAX;", "return most < 0;", source.text)
    assert count == 1
    wide = CudaLibrary(type(source)(source.name, text, source.header), tmp_path)
    a, c = np.random.default_rng(2).random((7, 41)).astype(np.float32), poisoned((7, 41))
    assert wide.call("", 7, 41, a, c) == 0
    np.testing.assert_array_equal(c, a[:, ::-1])
