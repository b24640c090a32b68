"""What is damaged in a PNG file: a chunk that has not its checksum, or rows that are missing.

Pillow says of the first only that this is no picture. It leaves the rows black that are missing when the
compressed data end too early in an orderly way, as those of a writer that was stopped do. Format: W3C,
"Portable Network Graphics", 5.2 to 5.5, 8 and 9.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
# Adam7: the first column and row of each pass, and how far apart they are.
PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
)  # fmt: skip
HEADER = 13  # bytes
PIECE = 1 << 16  # bytes that are read, and inflated, at a time


class Damaged(Exception):
    """A chunk that has not its checksum."""


def png_damage(file: BinaryIO) -> str | None:
    """What is wrong with the chunks or the rows of a PNG file, in words; None of other files, and where the
    header or the compression is wrong, which the decoder will say."""
    if file.read(len(SIGNATURE)) != SIGNATURE:
        return None
    header, missing, broken = b"", 0, False
    inflate = zlib.decompressobj()
    try:
        for name, piece in _pieces(file):
            if name == b"IHDR" and len(header) < HEADER:
                header += piece
                missing = _size(header[:HEADER]) if len(header) >= HEADER else 0
            compressed = piece if name == b"IDAT" else b""
            while compressed and missing > 0 and not inflate.eof and not broken:
                try:
                    missing -= len(inflate.decompress(compressed, PIECE))
                except zlib.error:
                    broken = True
                compressed = inflate.unconsumed_tail
    except Damaged as damaged:
        return f"it is damaged: its chunk {damaged} has not the checksum that it was written with"
    return "it is cut off: rows at its end are missing" if missing > 0 and not broken else None


def _size(header: bytes) -> int:
    """Bytes of all rows, each with that of its filter."""
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    passes = PASSES if interlaced else ((0, 0, 1, 1),)
    total = 0
    for x, y, across, down in passes:
        columns, rows = (width - x + across - 1) // across, (height - y + down - 1) // down
        if columns > 0:
            total += rows * (1 + (columns * bits * CHANNELS.get(colour, 1) + 7) // 8)
    return total


def _pieces(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """The names and contents of the chunks up to IEND, or where the file ends, in pieces. Damaged behind a
    chunk whose checksum is another."""
    while len(start := file.read(8)) == 8:
        left, name = struct.unpack(">I4s", start)
        checksum = zlib.crc32(name)
        while left:
            piece = file.read(min(left, PIECE))
            if not piece:
                return
            yield name, piece
            checksum = zlib.crc32(piece, checksum)
            left -= len(piece)
        written = file.read(4)
        if len(written) == 4 and int.from_bytes(written, "big") != checksum:
            raise Damaged(f"`{name.decode()}`" if name.isalpha() else "of an unknown name")
        if name == b"IEND":
            return
