"""Moves of bytes between a thread's registers as CUDA, executed on the CPU and taken by nvcc."""

from __future__ import annotations

import ctypes
import subprocess
from math import prod
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.sketches.layout_moves import Moves, cheapest_moves
from hbc.cli.sketches.synth_code import movement_code, moves_table
from hbc.codegen.build.cuda_cpu import build, find_cpp
from hbc.codegen.moves.bytes import emit_bytes
from hbc.frontend.sketch.layout_spec import parse_spec
from hbc.ir.ground.diag import HbcError, ToolError
from hbc.ir.lang.types import DTYPES
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather
from hbc.ir.moves.movement import Folded, Input, Moved, Movement, Output
from hbc.synth.prunings.watch import Watch

TARGET = "cuda_bytes"
REGISTER = 4  # bytes
GROUPS = 300  # more than a block has

# A change and the instructions that it takes.
CHANGES = [
    ("transpose(rows=4, cols=4, bytes)", 8), ("interleave(k=4, bytes)", 8),
    ("deinterleave(k=2, count=4, u8)", 2), ("transpose(rows=8, cols=8, u8)", 32),
    ("aos_to_soa(channels=3, bytes)", 6), ("aos_to_soa(channels=4, i8)", 8),
    ("soa_to_aos(channels=3, bytes)", 6), ("transpose(rows=2, cols=2, f16)", 2),
    ("transpose(rows=4, cols=4, bf16)", 8), ("transpose(rows=16, cols=16, u8)", 128),
    ("deinterleave(k=3, count=16, u8)", 24), ("transpose(rows=8, cols=24, u8)", 96),
]  # fmt: skip


def found(text: str) -> Moves:
    return cheapest_moves(parse_spec(text, 8 * REGISTER), TARGET, False, Watch)


def filled(size: int, itemsize: int) -> int:
    """The registers that so many elements fill."""
    return -(-size * itemsize // REGISTER)


def run(moved: Movement, text: str, inputs: list[np.ndarray], folder: Path) -> list[np.ndarray]:
    """The registers of the outputs, for each group; poisoned before."""
    try:
        find_cpp()
    except ToolError as e:
        pytest.skip(str(e))
    library = ctypes.CDLL(str(build(text, folder / "moves.so", "so", name=moved.name)))
    shapes = moved.shapes()
    itemsize = inputs[0].dtype.itemsize
    sizes = [filled(prod(shapes[output.name]), itemsize) for output in moved.outputs]
    outputs = [np.full((GROUPS, size), 0xA5A5A5A5, np.uint32) for size in sizes]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *outputs)]
    assert library[f"{moved.name}_launch"](GROUPS, *pointers, None) == 0
    return outputs


def elements(registers: np.ndarray, dtype: type[np.generic], size: int) -> np.ndarray:
    return registers.view(dtype).reshape(GROUPS, -1)[:, :size]


@pytest.mark.parametrize(("text", "instructions"), CHANGES, ids=[text for text, _ in CHANGES])
def test_changes_by_name(text: str, instructions: int, tmp_path: Path) -> None:
    moves = found(text)
    assert moves.instructions == instructions
    dtype = np.uint8 if moves.spec.dtype.bits == 8 else np.uint16
    rng = np.random.default_rng(1)
    limit = np.iinfo(dtype).max
    sizes = [prod(shape) for shape in moves.spec.change.inputs]
    given = [rng.integers(0, limit, (GROUPS, size), dtype, endpoint=True) for size in sizes]
    code = movement_code(moves.movement, TARGET, moves.spec.dtype, False, ())
    assert code.count("__byte_perm(") == instructions
    outputs = run(moves.movement, code, given, tmp_path)
    flat = np.concatenate(given, axis=1)
    expected = flat[:, moves.spec.change.gather.index]
    start = 0
    for shape, registers in zip(moves.spec.change.outputs, outputs, strict=True):
        got = elements(registers, dtype, prod(shape))
        assert (got == expected[:, start : start + prod(shape)]).all()
        start += prod(shape)


def test_any_bytes_of_any_registers(tmp_path: Path) -> None:
    """Zeros, bytes that nobody wants, bytes that are wanted often."""
    rng = np.random.default_rng(2)
    index = rng.integers(-2, 16, 40).astype(np.int32)
    assert {ZERO, UNDEFINED} <= set(index.tolist())
    gather = Gather(((16,),), (40,), index)
    moved = Movement(
        "any_bytes", (Input("x", (16,)),), (Moved("out", ("x",), gather, True, "x[...]"),),
        (Output("out", index != UNDEFINED),), -1,
    )  # fmt: skip
    given = rng.integers(0, 256, (GROUPS, 16), np.uint8)
    text = movement_code(moved, TARGET, DTYPES["u8"], False, ())
    (registers,) = run(moved, text, [given], tmp_path)
    expected = np.concatenate([given, np.zeros((GROUPS, 2), np.uint8)], axis=1)[:, index]
    wanted = index != UNDEFINED
    assert (elements(registers, np.uint8, 40)[:, wanted] == expected[:, wanted]).all()


def test_nvcc_takes_them(nvcc: tuple[str, ...], tmp_path: Path) -> None:
    moves = found("transpose(rows=4, cols=4, bytes)")
    source = tmp_path / "moves.cu"
    source.write_text(
        movement_code(moves.movement, TARGET, moves.spec.dtype, False, ()), encoding="utf-8"
    )
    ptx = tmp_path / "moves.ptx"
    done = subprocess.run(
        [*nvcc, "-arch=sm_80", "-ptx", str(source), "-o", str(ptx)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert ptx.read_text(encoding="utf-8").count("prmt.b32") == 8


def test_what_is_refused() -> None:
    with pytest.raises(HbcError, match="moves elements of 8 and 16 bits, and these have 32"):
        found("transpose(rows=2, cols=2, f32)")
    moved = Movement(
        "sums", (Input("x", (8,)),), (Folded("out", "x", (4,), 2, "+"),),
        (Output("out", np.ones(4, dtype=np.bool_)),), -1,
    )  # fmt: skip
    with pytest.raises(HbcError, match="is a fold"):
        emit_bytes(moved, DTYPES["u8"], moves_table(TARGET, 8, False), ())
