"""Whether a PNG file has all of its rows.

Pillow leaves the rows black that are missing when the compressed data end too early in an orderly way,
as those of a writer that was stopped do. Format: W3C, "Portable Network Graphics", 5.2, 8 and 9.
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
PIECE = 1 << 16  # bytes that are read, and inflated, at a time


def has_all_rows(file: BinaryIO) -> bool:
    """Whether the data of a PNG file inflate to as much as its header says; true of other files, and
    where the header or the compression is wrong, which the decoder will say."""
    if file.read(len(SIGNATURE)) != SIGNATURE:
        return True
    name, length = _chunk(file)
    header = file.read(length + 4)[:13] if length < PIECE else b""
    if name != b"IHDR" or len(header) < 13:
        return True
    missing = _size(header)
    inflate = zlib.decompressobj()
    try:
        for compressed in _image_data(file):
            while compressed and missing > 0 and not inflate.eof:
                missing -= len(inflate.decompress(compressed, PIECE))
                compressed = inflate.unconsumed_tail
    except zlib.error:
        return True
    return missing <= 0


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


def _image_data(file: BinaryIO) -> Iterator[bytes]:
    """The contents of the IDAT chunks, in pieces."""
    while True:
        name, length = _chunk(file)
        if name in (b"", b"IEND"):
            return
        if name != b"IDAT":
            file.seek(length + 4, 1)
            continue
        while length:
            piece = file.read(min(length, PIECE))
            if not piece:
                return
            yield piece
            length -= len(piece)
        file.seek(4, 1)


def _chunk(file: BinaryIO) -> tuple[bytes, int]:
    """The name and length of the next chunk; no name at the end."""
    start = file.read(8)
    if len(start) < 8:
        return b"", 0
    length, name = struct.unpack(">I4s", start)
    return name, length
