"""What a thread holds: every element of a block-wide buffer has one place with one thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import prod

import pytest
from block_runs import value
from gpu_kernels import lowered, scheduled
from hypothesis import given, settings
from hypothesis import strategies as st

from hbc.codegen.fragments.thread_view import thread_view
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.build import add, mod, mul, sub
from hbc.ir.lang.nodes import (
    Allocate,
    Const,
    Expr,
    For,
    Load,
    LoopKind,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.types import F32, Memory
from hbc.ir.lang.walk import block, children, nodes
from hbc.ir.passes.unroll import unroll

Digit = tuple[str, int]  # a loop and its extent
Places = dict[tuple[int, ...], dict[int, int]]  # by thread and element


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[Digit], list[Digit], list[Digit]]:
    """Loops over threads, loops in a thread, and all of them in the order of the memory."""
    threads = [(f"t{n}", draw(st.integers(1, 4))) for n in range(draw(st.integers(1, 3)))]
    inner = [(f"v{n}", draw(st.integers(1, 4))) for n in range(draw(st.integers(1, 3)))]
    return threads, inner, draw(st.permutations([*threads, *inner]))


@given(layouts(), st.booleans(), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_one_place_each(
    layout: tuple[list[Digit], list[Digit], list[Digit]], unrolled: bool, start: int
) -> None:
    """A nest writes what another one reads, which has its loops elsewhere and begins later."""
    threads, inner, memory = layout
    kind = LoopKind.UNROLL if unrolled else LoopKind.SERIAL
    size = prod(n for _, n in memory)
    first = _nest(threads, inner, kind, Store("acc", _at(memory), Const(0.0, F32(1))))
    read = Load("acc", _at(memory, start), F32(1))
    second = _nest(threads, inner[::-1], kind, Store("out", const_index(0), read), start)
    nest = _block(Allocate("acc", F32, const_index(size), Memory.REGISTER, block(first, second)))
    seen = thread_view(nest)
    extent = _held(seen)
    places: Places = defaultdict(dict)
    _visit(nest, seen, {}, (), places)
    for mine in places.values():
        assert len(set(mine.values())) == len(mine)  # no two elements share a place
        assert all(0 <= p < extent for p in mine.values())
    owned = [e for mine in places.values() for e in mine]
    assert len(owned) == len(set(owned)) == size  # no element has two owners
    if unrolled:
        assert extent == prod(n for _, n in inner)


@given(layouts())
@settings(max_examples=60, deadline=None)
def test_what_others_hold(layout: tuple[list[Digit], list[Digit], list[Digit]]) -> None:
    """Threads that read what the next one wrote are refused."""
    threads, inner, memory = layout
    name, count = threads[0]
    if count == 1:
        return
    size = prod(n for _, n in memory)
    first = _nest(threads, inner, LoopKind.SERIAL, Store("acc", _at(memory), Const(0.0, F32(1))))
    read = Store("out", const_index(0), Load("acc", _next(memory, name, count), F32(1)))
    second = _nest(threads, inner, LoopKind.SERIAL, read)
    nest = _block(Allocate("acc", F32, const_index(size), Memory.REGISTER, block(first, second)))
    with pytest.raises(HbcError, match="registers of the threads that compute it"):
        thread_view(nest)


def test_sums_of_a_product() -> None:
    """Four sums a thread, in registers with constant numbers."""
    kernel = lowered("gemm", "staged")
    nest = next(n for n in nodes(kernel.body) if isinstance(n, For) and n.kind is LoopKind.BLOCK)
    seen = thread_view(nest)
    sums = [n for n in nodes(seen) if isinstance(n, Allocate) and n.buffer == "acc"]
    assert [s.extent for s in sums] == [const_index(4)] * 2  # of whole blocks, and of others
    places = {n.index for n in nodes(seen) if isinstance(n, Load | Store) and n.buffer == "acc"}
    assert places == {const_index(n) for n in range(4)}


def test_sums_read_by_other_threads() -> None:
    """The consumer gives its loops to threads in another order."""
    text = """
        C.tile(i, j, io, jo, ii, ji, 4, 8).gpu_blocks(io, jo).reorder(ji, ii).gpu_threads(ji, ii)
        acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
        acc.update.gpu_threads(i, j)
    """
    kernel = scheduled("gemm", text)
    nest = next(n for n in nodes(kernel.body) if isinstance(n, For) and n.kind is LoopKind.BLOCK)
    with pytest.raises(HbcError) as raised:
        thread_view(nest)
    assert "store_in(shared)" in str(raised.value)


def _block(s: Stmt) -> For:
    made = unroll(For("blk", const_index(0), const_index(1), LoopKind.BLOCK, s))
    assert isinstance(made, For)
    return made


def _held(s: Stmt) -> int:
    extent = next(n.extent for n in nodes(s) if isinstance(n, Allocate))
    assert isinstance(extent, Const)
    return int(extent.value)


def _nest(
    threads: Sequence[Digit], inner: Sequence[Digit], kind: LoopKind, s: Stmt, start: int = 0
) -> Stmt:
    for name, n in reversed(inner):
        s = For(name, const_index(start), const_index(n), kind, s)
    for name, n in reversed(threads):
        s = For(name, const_index(start), const_index(n), LoopKind.THREAD, s)
    return s


def _at(memory: Sequence[Digit], start: int = 0) -> Expr:
    """The place of all the loops' values, the last contiguous."""
    total: Expr = const_index(0)
    stride = 1
    for name, n in reversed(memory):
        total = add(total, mul(sub(Var(name), start), stride))
        stride *= n
    return total


def _next(memory: Sequence[Digit], name: str, count: int) -> Expr:
    """The place of the next thread's values, round."""
    total: Expr = const_index(0)
    stride = 1
    for each, n in reversed(memory):
        digit: Expr = mod(add(Var(each), 1), count) if each == name else Var(each)
        total = add(total, mul(digit, stride))
        stride *= n
    return total


def _visit(
    old: Stmt, new: Stmt, env: dict[str, int], thread: tuple[int, ...], places: Places
) -> None:
    """Runs both statements side by side: where each element is, on which all accesses agree."""
    match old, new:
        case For(), For():
            for n in range(value(old.extent, env)):
                own = (*thread, n) if old.kind is LoopKind.THREAD else thread
                inside = {**env, old.var: value(old.start, env) + n}
                _visit(old.body, new.body, inside, own, places)
        case Store(), Store():
            for a, b in ((old, new), (old.value, new.value)):
                if isinstance(a, Load | Store) and a.buffer == "acc":
                    assert isinstance(b, Load | Store)
                    place = value(b.index, env)
                    assert places[thread].setdefault(value(a.index, env), place) == place
        case _:
            for c, d in zip(children(old), children(new), strict=True):
                if isinstance(c, Stmt) and isinstance(d, Stmt):
                    _visit(c, d, env, thread, places)
