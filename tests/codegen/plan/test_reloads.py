"""Operands are loaded again where registers do not suffice, and only from memory that still has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tile_kernels import Product, nested, read
from tile_machines import poisoned_outputs
from tile_numbers import random

from hbc.codegen.plan.tile_lives import Lives, most_alive
from hbc.codegen.plan.tile_plan import plan_tiles
from hbc.codegen.plan.tile_regions import TileError
from hbc.codegen.plan.tile_reloads import load_again
from hbc.codegen.plan.tile_steps import Fill, accesses, tiles_of
from hbc.ir.lang.kernel import Kernel
from hbc.ir.meaning.interp import run as interpret

P = Product("tdpbusd", 2, 3, 4)


def grid(down: int, across: int, between: str = "", *, first: bool = False) -> Kernel:
    """Sums of `down` x `across` tiles in a row; `between` follows each product, and `first` loads all
    operands before any product."""
    sums = {(i, j): f"c{i}{j}" for i in range(down) for j in range(across)}
    a = [P.load(1, f"a{i}", "X", f"{i}", "X_stride0") for i in range(down)]
    b = [P.load(2, f"b{j}", "Y", f"{j}", "Y_stride0") for j in range(across)]
    lines = [P.zero(c) for c in sums.values()]
    lines += [*a, *b] if first else []
    for i in range(down):
        lines += [] if first else [a[i]]
        for j in range(across):
            lines += [b[j]] if i == 0 and not first else []
            lines += [P.multiply(sums[i, j], f"a{i}", f"b{j}"), between]
    lines += [
        P.store(c, "C", f"{4 * n} * C_stride0", "C_stride0") for n, c in enumerate(sums.values())
    ]
    tiles = [P.allocate(0, c) for c in sums.values()]
    tiles += [P.allocate(1, f"a{i}") for i in range(down)]
    tiles += [P.allocate(2, f"b{j}") for j in range(across)]
    return read(f"""kernel grid
input X: u8[10, 16]
input Y: i8[10, 16]
output C: i32[40, 16]
instruction tdpbusd
{{
{nested(tiles, lines)}
}}""")


def loads(kernel: Kernel) -> int:
    steps = accesses(kernel.body, tiles_of(kernel.body))
    return sum(isinstance(s, Fill) for s in steps)


def alive(kernel: Kernel) -> int:
    lives = Lives(tiles_of(kernel.body))
    lives.place(kernel.body)
    return len(most_alive(lives.lives))


@pytest.mark.parametrize("first", [False, True], ids=["in turn", "all first"])
@pytest.mark.parametrize(
    ("down", "across"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 2), (2, 3), (6, 1), (1, 6)]
)
def test_two_registers_beside_the_sums_suffice(down: int, across: int, first: bool) -> None:
    kernel = grid(down, across, first=first)
    sums = down * across
    given = {"X": random((10, 16), P.type(1), 1), "Y": random((10, 16), P.type(2), 2)}
    want = poisoned_outputs(kernel, {})
    interpret(kernel, {}, {**given, **want})
    for count in range(sums + 2, alive(kernel) + 2):
        made = replace(kernel, body=load_again(kernel.body, count))
        assert alive(made) <= count
        assert loads(made) <= down + down * across, "operands of a row are loaded once for it"
        got = poisoned_outputs(kernel, {})
        interpret(made, {}, {**given, **got})
        assert np.array_equal(want["C"], got["C"])
    assert load_again(kernel.body, alive(kernel)) == kernel.body, "without need nothing changes"
    with pytest.raises(TileError, match=f"{sums + 2} tile registers are needed at once"):
        (i,) = kernel.instructions
        plan_tiles(kernel.body, (replace(i, place=replace(i.place, count=sums + 1)),))


def test_not_from_memory_that_changes() -> None:
    """What is in Y after the first product is not what `b0` was loaded from."""
    kernel = grid(2, 2, "Y[0] = 1:i8")
    assert loads(replace(kernel, body=load_again(kernel.body, 6))) == 4
    other = grid(2, 2, "C[39] = 1:i32")
    assert loads(replace(other, body=load_again(other.body, 6))) == 6
