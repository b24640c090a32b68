"""Reads WAV files: RIFF chunks, PCM and IEEE floats, the extensible format too.

Python's own `wave` refuses floats, and before 3.12 every file that a modern recorder writes with
more than 16 bits. Format: Microsoft, "Multiple channel audio data and WAVE files" (2007).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
WIDTHS = {PCM: (8, 16, 24, 32), FLOAT: (32, 64)}  # bits of a sample
UNKNOWN = 0xFFFFFFFF  # the length that writers to a pipe give: up to the end of the file
SUBFORMAT = 24  # offset of the extensible format's real one, in `fmt `


class WaveError(Exception):
    """The bytes are no WAV file, or one of a kind that is not read."""


def read_wave(data: bytes) -> tuple[Array, int]:
    """Samples [N, channels] as float64 in -1..1 and the rate in samples per second. WaveError also
    where samples are missing."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise WaveError("it does not begin as one")
    described, raw = None, None
    for name, chunk in _chunks(data):
        if name == b"fmt " and described is None:
            described = chunk
        elif name == b"data" and raw is None:
            raw = chunk
    if described is None or len(described) < 16:
        raise WaveError("it does not say its format")
    if raw is None:
        raise WaveError("it has no samples")
    code, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", described)
    if code == EXTENSIBLE and len(described) >= SUBFORMAT + 2:
        (code,) = struct.unpack_from("<H", described, SUBFORMAT)
    if bits not in WIDTHS.get(code, ()) or not channels or not rate:
        raise WaveError(f"format {code} with {bits} bits, {channels} channels, {rate} Hz")
    if len(raw) % (bits // 8 * channels):
        raise WaveError("it is cut off within a sample")
    return _samples(raw, code, bits).reshape(-1, channels), rate


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names and contents, padded to even lengths in the file. WaveError when the samples are cut off."""
    at = 12
    while at + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, at)
        chunk = data[at + 8 : at + 8 + length]
        if name == b"data" and len(chunk) < length != UNKNOWN:
            raise WaveError(f"it is cut off: {len(chunk)} of {length} bytes of samples are there")
        yield name, chunk
        at += 8 + length + length % 2


def _samples(raw: bytes, code: int, bits: int) -> Array:
    """8-bit PCM is unsigned, wider ones are signed."""
    import numpy as np

    if code == FLOAT:
        return np.frombuffer(raw, f"<f{bits // 8}").astype(np.float64)
    if bits == 8:
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    if bits == 24:
        padded = np.zeros((len(raw) // 3, 4), np.uint8)
        padded[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return _scaled(padded.view("<i4")[:, 0], 32)
    return _scaled(np.frombuffer(raw, f"<i{bits // 8}"), bits)


def _scaled(integers: Array, bits: int) -> Array:
    import numpy as np

    scaled: Array = integers.astype(np.float64) / 2.0 ** (bits - 1)
    return scaled
