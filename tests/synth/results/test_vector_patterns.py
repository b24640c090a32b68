"""Patterns of vector moves: each is exactly what one instruction can make with some immediate.

The oracle runs the instructions with every immediate and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from hbc.synth.results.vector_patterns import ONE, TWO

LANES, GROUP = 8, 4  # two groups of four: as a 256-bit register of 32-bit elements
Lane = tuple[int, int]  # (register, lane)
A = [(0, i) for i in range(LANES)]
B = [(1, i) for i in range(LANES)]


def groups(register: list[Lane]) -> list[list[Lane]]:
    return [register[start : start + GROUP] for start in range(0, LANES, GROUP)]


def valign(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for c in range(LANES):
        yield (b + a)[c : c + LANES]


def vpalignr(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for c in range(GROUP):
        yield [
            lane
            for one, two in zip(groups(a), groups(b), strict=True)
            for lane in (two + one)[c : c + GROUP]
        ]


def vpunpck(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for low in (0, GROUP // 2):
        yield [
            lane
            for one, two in zip(groups(a), groups(b), strict=True)
            for i in range(low, low + GROUP // 2)
            for lane in (one[i], two[i])
        ]


def vshufps(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for w, x, y, z in product(range(GROUP), repeat=4):
        yield [
            lane
            for one, two in zip(groups(a), groups(b), strict=True)
            for lane in (one[w], one[x], two[y], two[z])
        ]


def vpshufd(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for chosen in product(range(GROUP), repeat=GROUP):
        yield [group[i] for group in groups(a) for i in chosen]


def vshufi32x4(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for x, y in product(range(2), repeat=2):
        yield groups(a)[x] + groups(b)[y]


def vperm2i128(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    both = groups(a) + groups(b)
    for x, y in product(range(4), repeat=2):
        yield both[x] + both[y]


def vpblendd(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for mask in product((False, True), repeat=LANES):
        yield [two if m else one for m, one, two in zip(mask, a, b, strict=True)]


def vshuffe(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    yield [(b if i % 2 else a)[i - i % 2] for i in range(LANES)]


def vshuffo(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    yield [(b if i % 2 else a)[i - i % 2 + 1] for i in range(LANES)]


def vshuff(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for half in (0, LANES // 2):
        yield [lane for i in range(LANES // 2) for lane in (a[half + i], b[half + i])]


def vdeal(a: list[Lane], b: list[Lane]) -> Iterator[list[Lane]]:
    for offset in (0, 1):
        yield a[offset::2] + b[offset::2]


Instruction = Callable[[list[Lane], list[Lane]], Iterator[list[Lane]]]
INSTRUCTIONS: dict[str, Instruction] = {
    "align": valign, "align within": vpalignr, "unpack": vpunpck, "halves": vshufps,
    "within": vpshufd, "quarters": vshufi32x4, "chunks": vperm2i128, "blend": vpblendd,
    "even": vshuffe, "odd": vshuffo, "zip": vshuff, "unzip": vdeal,
}  # fmt: skip


def as_arrays(made: list[Lane]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([lane for _, lane in made]), np.array([register for register, _ in made])


def changed(made: list[Lane], generator: np.random.Generator) -> list[Lane]:
    """With one lane replaced by any other of the same registers."""
    registers = sorted({register for register, _ in made})
    found = list(made)
    found[int(generator.integers(LANES))] = (
        int(generator.choice(registers)), int(generator.integers(LANES)),
    )  # fmt: skip
    return found


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_pattern_is_what_an_instruction_can_make(name: str) -> None:
    instruction = INSTRUCTIONS[name]
    generator = np.random.default_rng(1)
    makes = [made for x, y in product((A, B), repeat=2) for made in instruction(x, y)]
    known = {tuple(made) for made in makes}
    close = [changed(made, generator) for made in makes for _ in range(max(1, 2000 // len(makes)))]
    whole = [list(made) for made in known]
    for made in whole + close:
        lane, register = as_arrays(made)
        patterns = TWO if len(set(register)) == 2 else ONE
        if name in patterns:
            assert patterns[name](lane, register, GROUP) == (tuple(made) in known), made


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_lanes_that_do_not_matter(name: str) -> None:
    """A pattern with lanes left open fits where some way to fill them does."""
    generator = np.random.default_rng(2)
    instruction = INSTRUCTIONS[name]
    makes = [made for x, y in product((A, B), repeat=2) for made in instruction(x, y)]
    for made in makes[:200]:
        lane, register = as_arrays(made)
        if name not in (TWO if len(set(register)) == 2 else ONE):
            continue
        open_ = generator.random(LANES) < 0.5
        lane, register = np.where(open_, -2, lane), np.where(open_, -2, register)
        if (register >= 0).any():
            assert TWO.get(name, ONE.get(name))(lane, register, GROUP)
