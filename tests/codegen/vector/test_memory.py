"""Loads and stores of every shape and element type: bits moved, masked lanes left alone.

Lanes that a mask turns off lie outside their arrays, behind which memory faults.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from lanes import QUICK, call
from memory_moves import (
    ROOM,
    SIZES,
    filled,
    kernel_of,
    moves,
)

from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, F32, I8, I32, DType
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import Array

UNOPTIMIZED = (*QUICK, "-O0")  # some thousand lines in one function
TYPES = 3
"""In one kernel: what it costs to look for loops grows with the square of its lines."""


def test_loads_and_stores(target: str, tmp_path: Path) -> None:
    """Vectors that are cut into 8 or 4 lanes and one."""
    check(list(DTYPES.values()), 13 if TARGETS[target].vector_bits else 8, target, tmp_path)


def test_whole_registers(vector_target: str, tmp_path: Path) -> None:
    """Several registers, all of them full."""
    check([I8, F32], 32, vector_target, tmp_path)


def test_halves_of_registers(vector_target: str, tmp_path: Path) -> None:
    """The last two lanes of 64 bits fill a register, and half of it when they become 32."""
    check([I8, I32], 10, vector_target, tmp_path)


def check(types: list[DType], lanes: int, target: str, tmp_path: Path) -> None:
    for n in range(0, len(types), TYPES):
        folder = tmp_path / str(n)
        folder.mkdir()
        check_together(types[n : n + TYPES], lanes, target, folder)


def check_together(types: list[DType], lanes: int, target: str, folder: Path) -> None:
    outputs = {f"out_{t}": list(moves(t, lanes, f"out_{t}")) for t in types}
    kernel = kernel_of(outputs)
    inputs = filled(kernel)
    got = call(kernel, inputs, target, folder, UNOPTIMIZED, SIZES)
    want = {name: np.empty_like(got[name]) for name in outputs}
    for array in want.values():
        array.view(np.uint8)[...] = {"f": 0xFF, "V": 0xFF, "b": 1}.get(array.dtype.kind, 0x5A)
    run(kernel, SIZES, {**inputs, **want}, strict=False)
    wrong = [
        move.name
        for name, found in outputs.items()
        for i, move in enumerate(found)
        if _bytes(got[name], i) != _bytes(want[name], i)
    ]
    assert wrong == []


def _bytes(array: Array, row: int) -> bytes:
    return array[row * ROOM : (row + 1) * ROOM].tobytes()
