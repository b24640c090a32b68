"""AMX as the manual writes it: slow, one element after the other, in exact integers.

Independent of the C code: each rounding is done here on the exact value. Source: Intel SDM volume 2,
the instructions' pages; #UD and #GP rules from the exception classes AMX-E1 to AMX-E5.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
from amx_program import FLOAT_PRODUCTS, INT_PRODUCTS, Program, Step

INFINITY = 0x7F800000
INDEFINITE = 0xFFC00000
QUIET = 0x00400000
SIGN = 0x80000000


class Fault(Exception):
    """The instruction raises the exception that the message begins with, #UD or #GP."""


@dataclass(slots=True)
class Tiles:
    """The state of one thread; `colsb` and `rows` by tile."""

    palette: int = 0
    start_row: int = 0
    rows: list[int] = field(default_factory=lambda: [0] * 8)
    colsb: list[int] = field(default_factory=lambda: [0] * 8)
    data: np.ndarray = field(default_factory=lambda: np.zeros((8, 16, 64), np.uint8))


def run(program: Program) -> bytes:
    """The arena after the program. Raises Fault."""
    arena = bytearray(program.arena)
    tiles = Tiles()
    for step in program.steps:
        tiles = execute(tiles, step, arena)
    return bytes(arena)


def execute(t: Tiles, step: Step, arena: bytearray) -> Tiles:
    """The state after one instruction; the arena changes in place."""
    match step.kind:
        case "tilerelease":
            return Tiles()
        case "ldtilecfg":
            return configured(bytes(arena[step.offset : step.offset + 64]))
        case "sttilecfg":
            text = bytes([t.palette, t.start_row, *[0] * 14]) + struct.pack("<8H", *t.colsb)
            arena[step.offset : step.offset + 64] = text + bytes(16) + bytes(t.rows) + bytes(8)
            return t
        case "tilezero":
            check_tile(t, step.tiles[0], whole_dwords=False)
            t.data[step.tiles[0]] = 0
        case "tileloadd" | "tileloaddt1" | "tilestored":
            move(t, step, arena)
        case _:
            check_product(t, *step.tiles)
            product(t, step.kind, *step.tiles)
    t.start_row = 0
    return t


def configured(text: bytes) -> Tiles:
    if text[0] == 0:
        return Tiles()
    colsb = list(struct.unpack_from("<16H", text, 16))
    rows = list(text[48:])
    if text[0] != 1 or any(text[2:16]) or any(colsb[8:]) or any(rows[8:]):
        raise Fault("#GP palette or reserved bytes")
    for r, c in zip(rows, colsb, strict=True):
        if r > 16 or c > 64 or (r == 0) != (c == 0):
            raise Fault("#GP shape")
    return Tiles(1, text[1], rows[:8], colsb[:8])


def check_tile(t: Tiles, tile: int, *, whole_dwords: bool = True) -> None:
    if t.palette == 0 or tile > 7 or t.rows[tile] == 0:
        raise Fault("#UD tile")
    if whole_dwords and t.colsb[tile] % 4:
        raise Fault("#UD bytes of a row")


def check_product(t: Tiles, c: int, a: int, b: int) -> None:
    if len({c, a, b}) < 3:
        raise Fault("#UD operands")
    for tile in (c, a, b):
        check_tile(t, tile)
    if t.rows[c] != t.rows[a] or t.colsb[c] != t.colsb[b] or t.colsb[a] // 4 != t.rows[b]:
        raise Fault("#UD shapes")


def move(t: Tiles, step: Step, arena: bytearray) -> None:
    tile = step.tiles[0]
    check_tile(t, tile)
    if t.start_row >= t.rows[tile]:
        raise Fault("#UD start row")
    size = t.colsb[tile]
    if step.kind != "tilestored" and t.start_row == 0:
        t.data[tile] = 0
    for row in range(t.start_row, t.rows[tile]):
        at = step.offset + row * step.stride
        if step.kind == "tilestored":
            arena[at : at + size] = t.data[tile, row, :size].tobytes()
        else:
            t.data[tile, row] = 0
            t.data[tile, row, :size] = np.frombuffer(arena, np.uint8, size, at)


def product(t: Tiles, kind: str, c: int, a: int, b: int) -> None:
    rows, columns, depth = t.rows[c], t.colsb[c] // 4, t.rows[b]
    before = t.data[c].view(np.uint32)
    after = np.zeros((16, 16), np.uint32)
    if kind in INT_PRODUCTS:
        x = t.data[a].view(np.int8 if kind[4] == "s" else np.uint8).astype(np.int64)
        y = t.data[b].view(np.int8 if kind[5] == "s" else np.uint8).astype(np.int64)
        for m in range(rows):
            for n in range(columns):
                pairs = x[m, : 4 * depth] * y[:depth, 4 * n : 4 * n + 4].ravel()
                after[m, n] = (int(before[m, n]) + int(pairs.sum())) % 2**32
    else:
        assert kind in FLOAT_PRODUCTS
        x, y = (widened(t.data[i], fp16=kind == "tdpfp16ps") for i in (a, b))
        for m in range(rows):
            row = x[m].tolist()
            for n in range(columns):
                even = odd = 0
                pairs = y[:depth, 2 * n : 2 * n + 2].tolist()
                for k in range(depth):
                    even = multiply_add(row[2 * k], pairs[k][0], even)
                    odd = multiply_add(row[2 * k + 1], pairs[k][1], odd)
                after[m, n] = add(int(before[m, n]), add(even, odd))
    t.data[c] = after.view(np.uint8)


def widened(data: np.ndarray, *, fp16: bool) -> np.ndarray:
    """Bits of float32: fp16 exactly, denormal numbers included; bf16 as its upper half."""
    if fp16:
        with np.errstate(invalid="ignore"):
            return data.view(np.float16).astype(np.float32).view(np.uint32)
    return data.view(np.uint16).astype(np.uint32) << 16


def multiply_add(a: int, b: int, c: int) -> int:
    """Bits of a * b + c, rounded once; denormal operands are zero, denormal results become zero."""
    for x in (a, b, c):
        if x & ~SIGN > INFINITY:
            return x | QUIET
    sign = (a ^ b) & SIGN
    p, q = magnitude(a), magnitude(b)
    if p is None or q is None:
        if (p and p[0]) == 0 or (q and q[0]) == 0 or (c & ~SIGN == INFINITY and c & SIGN != sign):
            return INDEFINITE
        return sign | INFINITY
    r = magnitude(c)
    if r is None:
        return c
    exponent = min(p[1] + q[1], r[1])
    first = p[0] * q[0] << p[1] + q[1] - exponent
    second = r[0] << r[1] - exponent
    total = (-first if sign else first) + (-second if c & SIGN else second)
    if total == 0:
        return sign & c & SIGN if first == 0 else 0
    return rounded(total, exponent)


def add(a: int, b: int) -> int:
    return multiply_add(0x3F800000, a, b)


def magnitude(bits: int) -> tuple[int, int] | None:
    """|x| as integer times power of two; (0, 0) for denormal x; None for infinity."""
    exponent = bits >> 23 & 255
    if exponent == 255:
        return None
    return (bits & 0x7FFFFF | 0x800000, exponent - 150) if exponent else (0, 0)


def rounded(value: int, exponent: int) -> int:
    """Bits of value * 2**exponent to nearest even; tiny after rounding: zero."""
    sign = SIGN if value < 0 else 0
    value = abs(value)
    excess = value.bit_length() - 24
    if excess > 0:
        rest = value & (1 << excess) - 1
        value >>= excess
        half = 1 << excess - 1
        if rest > half or (rest == half and value & 1):
            value += 1
    else:
        value <<= -excess
    exponent += excess
    if value == 1 << 24:
        value >>= 1
        exponent += 1
    biased = exponent + 150
    if biased >= 255:
        return sign | INFINITY
    return sign | biased << 23 | value & 0x7FFFFF if biased > 0 else sign
