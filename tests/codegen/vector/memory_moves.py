"""Loads and stores of every shape and element type, and kernels made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from values import values

from hbc.ir.lang.build import add, binary, broadcast, mul
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import (
    Binary,
    Block,
    Broadcast,
    Cast,
    Expr,
    Load,
    Op,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)  # fmt: skip
from hbc.ir.lang.types import BF16, BOOL, DTYPES, F32, I8, I32, I64, U8, DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

ROOM = 160  # elements of each case in the output
SOURCE = 592  # elements of every input


SIZES = {"n": 9, "step": 3}


N, STEP = Var("n"), Var("step")


Index = Callable[[Expr, int], Expr]  # first element and lanes -> positions


def one_by_one(first: Expr, lanes: int) -> Expr:
    return Ramp(first, const_index(1), lanes)


def strided(stride: int) -> Index:
    return lambda first, lanes: Ramp(first, const_index(stride), lanes)


def unknown_stride(first: Expr, lanes: int) -> Expr:
    return Ramp(first, STEP, lanes)


def reversed_(first: Expr, lanes: int) -> Expr:
    return Ramp(add(first, lanes - 1), const_index(-1), lanes)


def rows_of_four(first: Expr, lanes: int) -> Expr:
    inner = Ramp(first, const_index(1), 4)
    return Ramp(inner, broadcast(const_index(7), 4), lanes // 4)


def transposed(first: Expr, lanes: int) -> Expr:
    inner = Ramp(first, const_index(11), 4)
    return Ramp(inner, broadcast(const_index(1), 4), lanes // 4)


def each_four_times(first: Expr, lanes: int) -> Expr:
    return Ramp(broadcast(first, 4), broadcast(const_index(1), 4), lanes // 4)


def stretched(times: int, skipped: int) -> Index:
    """Each element so many times, the first one `skipped` times less."""

    def index(first: Expr, lanes: int) -> Expr:
        line = Ramp(add(mul(first, times), skipped), const_index(1), lanes)
        return Binary(Op.DIV, line, broadcast(const_index(times), lanes))

    return index


def in_turn(period: int, skipped: int) -> Index:
    """So many elements again and again, from a later one on."""

    def index(first: Expr, lanes: int) -> Expr:
        line = Ramp(const_index(skipped), const_index(1), lanes)
        turn = Binary(Op.MOD, line, broadcast(const_index(period), lanes))
        return Binary(Op.ADD, Broadcast(first, lanes), turn)

    return index


def rows_of_pairs(first: Expr, lanes: int) -> Expr:
    inner = stretched(2, 0)(first, 4)
    return Ramp(inner, broadcast(const_index(7), 4), lanes // 4)


def four_again_and_again(first: Expr, lanes: int) -> Expr:
    return Broadcast(Ramp(first, const_index(1), 4), lanes // 4)


def all_the_same(first: Expr, lanes: int) -> Expr:
    return Broadcast(first, lanes)


def through(table: str, element: DType) -> Index:
    """Positions read from an input: a permutation of 0 .. 63."""

    def index(first: Expr, lanes: int) -> Expr:
        found = Load(table, Ramp(const_index(0), const_index(1), lanes), element(lanes))
        wide = found if element == I64 else Cast(I64(lanes), found)
        return Binary(Op.ADD, Broadcast(first, lanes), wide)

    return index


LOADS: dict[str, Index] = {
    "contiguous": one_by_one, "reversed": reversed_, "stride 2": strided(2),
    "stride 3": strided(3), "stride -5": lambda f, n: strided(-5)(add(f, 5 * n), n),
    "unknown stride": unknown_stride, "rows": rows_of_four, "transposed": transposed,
    "repeated": each_four_times, "twice": stretched(2, 0), "twice, within": stretched(2, 1),
    "eight times, within": stretched(8, 3), "rows of pairs": rows_of_pairs,
    "three in turn": in_turn(3, 1), "five in turn": in_turn(5, 4),
    "periodic": four_again_and_again, "broadcast": all_the_same,
    "through i32": through("places_i32", I32), "through u8": through("places_u8", U8),
    "through i64": through("places_i64", I64),
}  # fmt: skip


REPEATED = ("repeated", "periodic", "broadcast", "rows of pairs")
MANY = ("twice", "eight", "three", "five")
ONCE = [n for n in LOADS if n not in REPEATED and not n.startswith(MANY)]
STORES = {name: LOADS[name] for name in ONCE}
Mask = Callable[[int], Expr | None]


def first_n(lanes: int) -> Expr:
    line = Ramp(const_index(0), const_index(1), lanes)
    return Binary(Op.LT, line, Broadcast(N, lanes))


def from_memory(lanes: int) -> Expr:
    return Load("c_bool", Ramp(N, const_index(1), lanes), BOOL(lanes))


def compared(lanes: int) -> Expr:
    at = Ramp(const_index(300), const_index(1), lanes)
    return Binary(Op.LT, Load("a_i32", at, I32(lanes)), Load("b_i32", at, I32(lanes)))


MASKS: dict[str, Mask] = {
    "": lambda lanes: None, " first n": first_n, " mask in memory": from_memory,
    " compared": compared,
}  # fmt: skip


# One type of every width, and bool, is tried with every mask; the others show that their names
# are right.
WHOLE = (I8, BF16, F32, I64, BOOL)


@dataclass(frozen=True, slots=True)
class Move:
    """One load from `a` and one store to the output, at most one of them unusual."""

    name: str
    element: DType
    store: Store


def moves(t: DType, lanes: int, output: str) -> Iterator[Move]:
    """Every load and every store; each goes to a place of its own in the output."""
    row = 0

    def place() -> Expr:
        nonlocal row
        row += 1
        return const_index((row - 1) * ROOM)

    for mask_name, mask in MASKS.items():
        if mask_name and t not in WHOLE:
            continue
        for name, index in LOADS.items():
            at = index(add(N, 3), lanes)
            width = at.type.lanes
            loaded = Load(f"a_{t}", at, t(width), mask(width))
            store = Store(output, one_by_one(place(), width), loaded)
            yield Move(f"load {name}{mask_name}: {t}x{width}", t, store)
        for name, index in STORES.items():
            at = index(place(), lanes)
            width = at.type.lanes
            value = Load(f"a_{t}", one_by_one(const_index(5), width), t(width))
            yield Move(
                f"store {name}{mask_name}: {t}x{width}", t, Store(output, at, value, mask(width))
            )
    if t.is_int:
        wide = Load("a_i64", one_by_one(const_index(301), lanes), I64(lanes))
        at = strided(3)(place(), lanes)
        narrowed = Store(output, at, Cast(t(lanes), wide))
        yield Move(f"store of what was wider: {t}x{lanes}", t, narrowed)
    for stride in (1, 2):
        first = binary(Op.SUB, SOURCE, mul(N, stride))
        loaded = Load(f"a_{t}", strided(stride)(first, lanes), t(lanes), first_n(lanes))
        store = Store(output, one_by_one(place(), lanes), loaded)
        yield Move(f"load with stride {stride} at the end: {t}x{lanes}", t, store)
    for times, skipped in ((2, 0), (2, 1), (8, 3)):
        for mask in (None, first_n(lanes)):
            count = const_index((lanes - 1 + skipped) // times + 1)
            if mask is not None:
                count = binary(Op.DIV, add(N, times - 1 + skipped), times)
            at = stretched(times, skipped)(binary(Op.SUB, SOURCE, count), lanes)
            loaded = Load(f"a_{t}", at, t(lanes), mask)
            shown = f"load of each {times} times from {skipped} on at the end: {t}x{lanes}"
            yield Move(shown, t, Store(output, one_by_one(place(), lanes), loaded))
    end = add(place(), ROOM)
    value = Load(f"a_{t}", one_by_one(const_index(5), lanes), t(lanes))
    at = one_by_one(binary(Op.SUB, end, N), lanes)
    yield Move(f"store at the end: {t}x{lanes}", t, Store(output, at, value, first_n(lanes)))


def kernel_of(all_moves: dict[str, list[Move]]) -> Kernel:
    """The moves of every output, in order."""
    inputs = {f"a_{t}": t for t in DTYPES.values()}
    inputs |= {"b_i32": I32, "c_bool": BOOL}
    arguments = [Argument(name, t, (const_index(SOURCE),), False) for name, t in inputs.items()]
    for name, t in (("places_i32", I32), ("places_u8", U8), ("places_i64", I64)):
        arguments.append(Argument(name, t, (const_index(64),), False))
    body: list[Stmt] = []
    for output, found in all_moves.items():
        extent = const_index(len(found) * ROOM)
        arguments.append(Argument(output, found[0].element, (extent,), True))
        body += [move.store for move in found]
    sizes = tuple(Size(name) for name in SIZES)
    return Kernel("moves", sizes, tuple(arguments), (), (), Block(tuple(body)))


def filled(kernel: Kernel) -> dict[str, Array]:
    """The inputs."""
    places = np.random.default_rng(2).permutation(64)
    return {
        a.name: places.astype(numpy_dtype(a.element))
        if a.name.startswith("places")
        else values(a.name)
        for a in kernel.arguments
        if not a.output
    }
