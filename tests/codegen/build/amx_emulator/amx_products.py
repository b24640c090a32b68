"""Programs of one product each, on every shape and on all kinds of values, and what they leave behind."""

from __future__ import annotations

import functools

import amx_model
import numpy as np
from amx_program import Program

# Rows and columns of the result, in dwords; the depth follows so that each occurs with many others.
SHAPES = [(m, n, (5 * m + 3 * n) % 16 + 1) for m in range(1, 17) for n in range(1, 17)]
EDGES = {
    "tdpbf16ps": [
        0x0000, 0x0001, 0x007F, 0x0080, 0x0081, 0x00FF, 0x1FFF, 0x2000, 0x3F80, 0x3F81, 0x5F80,
        0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF,
    ],
    "tdpfp16ps": [
        0x0000, 0x0001, 0x03FF, 0x0400, 0x0401, 0x1400, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7C01,
        0x7E00, 0x7FFF,
    ],
}  # fmt: skip


FLOAT_VALUES = ("any", "finite", "ordinary", "tiny", "huge", "infinite", "sparse", "edges")


def halves(kind: str, values: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Bits of bf16 or fp16 numbers, of one sort."""
    exponent = 0x7F80 if kind == "tdpbf16ps" else 0x7C00
    random = rng.integers(0, 1 << 16, size).astype(np.uint16)
    match values:
        case "any":
            return random
        case "finite":
            return np.where(random & exponent == exponent, random & 0x83FF, random)
        case "ordinary":
            return random & 0x83FF | np.uint16(0x3C00)
        case "tiny":  # products around the least normal float
            lowest, most = (0x1E00, 0x21FF) if kind == "tdpbf16ps" else (0, 0x7FF)
            return rng.integers(lowest, most, size).astype(np.uint16) | random & 0x8000
        case "huge":  # around the greatest
            lowest, most = (0x5E80, 0x6000) if kind == "tdpbf16ps" else (0x7800, 0x7C00)
            return rng.integers(lowest, most, size).astype(np.uint16) | random & 0x8000
        case "infinite":
            return np.where(random % 61 == 0, random & 0x8000 | exponent, random & 0x83FF | 0x3C00)
        case "sparse":
            return np.where(random % 8 == 0, random & 0x83FF, random & 0x8000)
        case _:
            return rng.choice(np.array(EDGES[kind], np.uint16), size) | random & 0x8000


def singles(values: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Bits of accumulators to begin with."""
    random = rng.integers(0, 1 << 32, size).astype(np.uint32)
    if values == "any":
        return random
    if values == "sparse":
        return random & 0x80000000
    scale = {"tiny": 0x00000000, "huge": 0x7F000000}.get(values, 0x3F800000)
    return random & 0x80FFFFFF | np.uint32(scale)


def product(
    kind: str, shape: tuple[int, int, int], tiles: tuple[int, int, int], data: list[np.ndarray]
) -> Program:
    """Loads c, a, b, multiplies, stores c."""
    m, n, k = shape
    shapes = [(0, 0)] * 8
    for tile, place in zip(tiles, ((m, 4 * n), (m, 4 * k), (k, 4 * n)), strict=True):
        shapes[tile] = place
    program = Program()
    program.configure(shapes)
    for tile, values in zip(tiles, data, strict=True):
        program.load(tile, values.tobytes(), shapes[tile][1])
    program.add(kind, *tiles)
    program.store(tiles[0], shapes[tiles[0]])
    program.add("tilerelease")
    return program


@functools.cache
def float_programs(kind: str) -> list[tuple[Program, bytes]]:
    """Programs and the arenas that they must leave behind."""
    rng = np.random.default_rng(7)
    shapes = [*SHAPES, *[(16, 16, 16)] * len(FLOAT_VALUES)]
    made = []
    for i, (m, n, k) in enumerate(shapes):
        values = FLOAT_VALUES[i % len(FLOAT_VALUES)]
        tiles = (i % 8, (i + 1) % 8, (i + 2) % 8)
        data = [singles(FLOAT_VALUES[i // 16 % len(FLOAT_VALUES)], m * n, rng)]
        data += [halves(kind, values, size, rng) for size in (2 * m * k, 2 * k * n)]
        program = product(kind, (m, n, k), tiles, data)
        made.append((program, amx_model.run(program)))
    return made


@functools.cache
def int_programs(kind: str) -> list[tuple[Program, bytes]]:
    rng = np.random.default_rng(8)
    made = []
    for i, (m, n, k) in enumerate(SHAPES):
        # Now and then only the outermost values, so that sums go over the edge of 32 bits.
        bytes_ = np.arange(256) if i % 4 else np.array([0, 127, 128, 255])
        data = [rng.integers(0, 1 << 32, m * n).astype(np.uint32)]
        data += [rng.choice(bytes_, size).astype(np.uint8) for size in (4 * m * k, 4 * k * n)]
        program = product(kind, (m, n, k), (i % 8, (i + 1) % 8, (i + 2) % 8), data)
        made.append((program, amx_model.run(program)))
    return made
