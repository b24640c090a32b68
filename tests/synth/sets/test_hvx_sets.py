"""The sets of HVX instructions in the prelude: each gather is what the instruction does, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from sketch_solver import rows_of_set

LANES, REGISTERS = 8, 2
Register = list[int]
Made = Iterator[tuple[Register, ...]]


def gathers(name: str, written: int) -> set[tuple[int, ...]]:
    """What the new registers read in each gather of a set."""
    shape, made = (REGISTERS, LANES), (REGISTERS + written, LANES)
    rows = rows_of_set(f"{name}{{in_lim={REGISTERS}}}", shape, made, "prelude.sf")
    kept = tuple(range(REGISTERS * LANES))
    assert all(row[: len(kept)] == kept for row in rows), "other registers stay"
    return {row[len(kept) :] for row in rows}


def vmux(u: Register, v: Register) -> Made:
    for m in range(1, LANES):
        yield ([v[i] if i < m else u[i] for i in range(LANES)],)
    for bit in (1, 2, 4):
        yield ([u[i] if i & bit else v[i] for i in range(LANES)],)


def vshuffoe(u: Register, v: Register) -> Made:
    even = [lane for pair in zip(v[::2], u[::2], strict=True) for lane in pair]
    odd = [lane for pair in zip(v[1::2], u[1::2], strict=True) for lane in pair]
    yield even, odd


def vdeal(u: Register, v: Register) -> Made:
    yield v[::2] + u[::2], v[1::2] + u[1::2]


def vswap(u: Register, v: Register) -> Made:
    for m in range(1, LANES):
        yield u[:m] + v[m:], v[:m] + u[m:]


def expected(*makers: Callable[[Register, Register], Made]) -> set[tuple[int, ...]]:
    files = [list(range(r * LANES, (r + 1) * LANES)) for r in range(REGISTERS)]
    return {
        tuple(lane for register in made for lane in register)
        for maker in makers
        for u, v in product(files, repeat=2)
        for made in maker(u, v)
    }


@pytest.mark.parametrize(
    ("name", "written", "makers"),
    [("hvx_mux", 1, (vmux,)), ("hvx_2x2", 2, (vshuffoe, vdeal, vswap))],
)
def test_what_instructions_make(
    name: str, written: int, makers: tuple[Callable[[Register, Register], Made], ...]
) -> None:
    assert gathers(name, written) == expected(*makers)
