"""Programs of AMX instructions over an arena of memory: what the model and each machine execute."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

KINDS = (
    "ldtilecfg", "sttilecfg", "tilerelease", "tilezero", "tileloadd", "tileloaddt1", "tilestored",
    "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf16ps", "tdpfp16ps",
)  # fmt: skip
INT_PRODUCTS = KINDS[7:11]
FLOAT_PRODUCTS = KINDS[11:]
Shape = tuple[int, int]  # rows, bytes of a row


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction. `offset` is where its memory operand begins in the arena."""

    kind: str
    tiles: tuple[int, ...] = ()
    offset: int = 0
    stride: int = 0

    def pack(self) -> bytes:
        """As `struct step` of driver.c."""
        tiles = (*self.tiles, 0, 0, 0)[:3]
        return struct.pack("6q", KINDS.index(self.kind), *tiles, self.offset, self.stride)


@dataclass(slots=True)
class Program:
    """Steps, and the arena that they start from, which `place` fills from the front."""

    arena: bytearray = field(default_factory=bytearray)
    steps: list[Step] = field(default_factory=list)

    def place(self, data: bytes) -> int:
        """Adds `data` to the arena, returns its offset. Offsets are odd: nothing needs alignment."""
        self.arena += b"\xa5" * (1 + len(self.arena) % 2)
        offset = len(self.arena)
        self.arena += data
        return offset

    def room(self, size: int) -> int:
        """The offset of `size` bytes to be written."""
        return self.place(b"\xa5" * size)

    def add(self, kind: str, *tiles: int, at: int = 0, stride: int = 0) -> None:
        self.steps.append(Step(kind, tiles, at, stride))

    def configure(self, shapes: Sequence[Shape], start_row: int = 0) -> None:
        self.add("ldtilecfg", at=self.place(configuration(shapes, start_row)))

    def load(self, tile: int, data: bytes, row: int) -> None:
        """Loads rows of `row` bytes that lie behind each other."""
        self.add("tileloadd", tile, at=self.place(data), stride=row)

    def store(self, tile: int, shape: Shape) -> int:
        """Stores the tile, rows behind each other; returns the offset."""
        at = self.room(shape[0] * shape[1])
        self.add("tilestored", tile, at=at, stride=shape[1])
        return at


def configuration(shapes: Sequence[Shape], start_row: int = 0, palette: int = 1) -> bytes:
    """The 64 bytes of ldtilecfg for tiles 0, 1, ..."""
    text = bytearray(64)
    text[0], text[1] = palette, start_row
    for i, (rows, row) in enumerate(shapes):
        struct.pack_into("<H", text, 16 + 2 * i, row)
        text[48 + i] = rows
    return bytes(text)
