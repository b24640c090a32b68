"""Sounds (WAV, PCM of 8, 16, 24 or 32 bits) as arrays and back.

A sound is [N] (several channels are averaged), [N, C] or, when only the first extent is a literal,
[C, N]. A literal C of a mono file repeats it; otherwise C must be that of the file. Floats hold
-1..1 (a 16-bit sample is divided by 32768), i16 holds the samples. Written as 16-bit PCM: floats
are multiplied by 32768, rounded and clamped, NaN is silence.
"""

from __future__ import annotations

import wave
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.data import Loaded, channel_literals, unreadable
from hbc.cli.replace_file import replace_file
from hbc.frontend.funcs import Image
from hbc.ir.diag import error
from hbc.ir.types import I16

if TYPE_CHECKING:
    from hbc.cli.data import Array

USUAL_RATE = 44100  # samples per second, when no input says otherwise


def read_sound(path: Path, image: Image) -> Loaded:
    """The sound in the declared element type and rank, with its sample rate."""
    import numpy as np

    from hbc.ir.numpy_types import numpy_dtype

    if not (image.element == I16 or image.element.is_float):
        raise unreadable(path, image, f"a sound cannot be {image.element}: use i16 or floats")
    try:
        with wave.open(str(path), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            raw = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as failure:
        reason = f"it is not a WAV file that can be read ({str(failure) or 'it ends too early'})"
        raise unreadable(path, image, reason) from failure
    whole = len(raw) // (width * channels) * (width * channels)
    samples = _samples(raw[:whole], width).reshape(-1, channels)
    fitted = _fit_channels(samples, path, image)
    if image.element == I16:
        values = np.rint(fitted * 32768).astype(np.int16)
    else:
        values = fitted.astype(numpy_dtype(image.element))
    return Loaded(np.ascontiguousarray(values), rate)


def write_sound(path: Path, image: Image, array: Array, rate: int | None) -> None:
    """The output as 16-bit PCM at `rate` samples per second."""
    import numpy as np

    if not (image.element == I16 or image.element.is_float):
        raise error(
            f"cannot write `{image.name}` to `{path}`: {image.element} is no sound",
            image.span,
            "write a .npy file, or declare the output as i16 or a float type",
        )
    if array.ndim not in (1, 2):
        raise error(
            f"cannot write `{image.name}` to `{path}`: it has {array.ndim} dimensions, "
            "a sound has 1 or 2",
            image.span,
        )
    samples = array if array.ndim == 2 else array[:, None]
    samples = samples.T if _planar(image) else samples
    if not 1 <= samples.shape[1] <= 65535:
        raise error(
            f"cannot write `{image.name}` to `{path}`: {samples.shape[1]} channels", image.span
        )
    if image.element != I16:
        known = np.nan_to_num(samples.astype(np.float64), nan=0.0)
        samples = np.clip(np.rint(known * 32768), -32768, 32767).astype(np.int16)
    with replace_file(path) as beside, wave.open(str(beside), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate or USUAL_RATE)
        file.writeframes(np.ascontiguousarray(samples, dtype="<i2").tobytes())


def _samples(raw: bytes, width: int) -> Array:
    """PCM bytes as float64 in -1..1; 8-bit WAV is unsigned, wider ones are signed."""
    import numpy as np

    if width == 1:
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    if width == 3:
        padded = np.zeros((len(raw) // 3, 4), np.uint8)
        padded[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return padded.view("<i4")[:, 0].astype(np.float64) / 2**31
    scale = float(2 ** (8 * width - 1))
    return np.frombuffer(raw, f"<i{width}").astype(np.float64) / scale


def _fit_channels(samples: Array, path: Path, image: Image) -> Array:
    """[N, channels] samples in the declared rank and number of channels."""
    import numpy as np

    rank, channels = len(image.extents), samples.shape[1]
    if rank == 1:
        return samples[:, 0] if channels == 1 else samples.mean(axis=1)
    if rank != 2:
        raise unreadable(path, image, f"a sound has 1 or 2 dimensions, `{image.name}` has {rank}")
    first, last = channel_literals(image)
    declared = first if _planar(image) else last
    if declared is not None and declared != channels:
        if channels != 1:
            reason = f"it has {channels} channels, `{image.name}` has {declared}"
            raise unreadable(path, image, reason)
        samples = np.repeat(samples, declared, axis=1)
    return samples.T if _planar(image) else samples


def _planar(image: Image) -> bool:
    """Whether the channels come first: [2, N]."""
    if len(image.extents) != 2:
        return False
    first, last = channel_literals(image)
    return first is not None and last is None
