"""The sets of CUDA's moves: each gather is what the instruction does, thread by thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sketch_solver import rows_of_set

THREADS, REGISTERS = 8, 2
Index = tuple[int, ...]
Maker = Callable[[], Iterator[Callable[[int, int], Index]]]


def gathers(name: str, shape: Index) -> set[Index]:
    return rows_of_set(name, shape, shape, "cuda_moves.sf")


def shfl() -> Iterator[Callable[[int, int], Index]]:
    for factor in range(THREADS):
        for step in (0, 1, THREADS - 1):
            for first in range(THREADS):
                yield lambda i, j, f=factor, g=step, c=first: ((f * i + g * j + c) % THREADS, j)


def shfl_xor() -> Iterator[Callable[[int, int], Index]]:
    for step in (0, 1):
        for mask in range(THREADS):
            yield lambda i, j, g=step, c=mask: ((i ^ (g * j + c)) % THREADS, j)


def shfl_up() -> Iterator[Callable[[int, int], Index]]:
    for delta in range(1, THREADS):
        yield lambda i, j, d=delta: (i - d if i >= d else i, j)


def shfl_down() -> Iterator[Callable[[int, int], Index]]:
    for delta in range(1, THREADS):
        yield lambda i, j, d=delta: (i + d if i + d < THREADS else i, j)


def exchange() -> Iterator[Callable[[int, int], Index]]:
    """Threads whose numbers differ in a bit: the lower one gives its register 1 and takes register 0."""
    for bit in (1, 2, 4):

        def moved(i: int, j: int, d: int = bit) -> Index:
            upper = bool(i & d)
            return (i, j) if upper == bool(j) else (i ^ d, 1 - j)

        yield moved


@pytest.mark.parametrize("maker", [shfl, shfl_xor, shfl_up, shfl_down, exchange])
def test_what_an_instruction_moves(maker: Maker) -> None:
    expected = {
        tuple(
            source[0] * REGISTERS + source[1]
            for i in range(THREADS)
            for j in range(REGISTERS)
            for source in [move(i, j)]
        )
        for move in maker()
    }
    assert gathers(maker.__name__, (THREADS, REGISTERS)) == expected


def test_movmatrix_transposes_halves() -> None:
    """Thread 4 * row + column / 2 holds two neighbouring elements of a row."""
    (found,) = gathers("movmatrix", (32, 1, 2))
    held = {(row, column): 8 * row + column for row in range(8) for column in range(8)}
    assert found == tuple(held[column, row] for row in range(8) for column in range(8))


def test_arrangements_by_xor_keep_every_word_of_a_row() -> None:
    for found in gathers("xor_swizzle", (8, 8)):
        rows = [sorted(at % 8 for at in found[8 * i : 8 * i + 8]) for i in range(8)]
        assert rows == [list(range(8))] * 8
        assert all(at // 8 == place // 8 for place, at in enumerate(found))
