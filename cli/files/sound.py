"""Sounds (WAV: PCM of 8, 16, 24 or 32 bits, floats of 32 or 64; FLAC and OGG) as arrays and back.

A sound is [N] (several channels are averaged), [N, C] or, when only the first extent is a literal,
[C, N]. A literal C of a mono file repeats it; otherwise C must be that of the file. Floats hold
-1..1 (a 16-bit sample is divided by 32768), i16 holds the samples. Written as 16-bit PCM: floats
are multiplied by 32768, rounded and clamped, NaN is silence.
"""

from __future__ import annotations

import wave
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.files.clipped import note_clipped
from hbc.cli.files.loaded import Loaded, channel_literals, unreadable
from hbc.cli.files.replace_file import replace_file
from hbc.cli.files.sound_library import (
    SoundError,
    read_with_library,
    soundfile,
    write_with_library,
)
from hbc.cli.files.wave_file import WaveError, read_wave
from hbc.cli.show.report import notice
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import error
from hbc.ir.lang.types import I16

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

WAV = ".wav"
USUAL_RATE = 44100  # samples per second, when no input says otherwise


def read_sound(path: Path, image: Image) -> Loaded:
    """The sound in the declared element type and rank, with its sample rate."""
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    if not (image.element == I16 or image.element.is_float):
        raise unreadable(path, image, f"a sound cannot be {image.element}: use i16 or floats")
    kind = path.suffix.lower()
    try:
        if kind == WAV:
            samples, rate = read_wave(path.read_bytes())
        else:
            samples, rate = read_with_library(path)
    except (WaveError, SoundError) as failure:
        reason = f"it is no {kind[1:].upper()} file that can be read ({failure})"
        raise unreadable(path, image, reason) from failure
    fitted = _fit_channels(samples, path, image)
    if image.element == I16:
        values = _to_pcm(fitted)
    else:
        values = fitted.astype(numpy_dtype(image.element))
    return Loaded(np.ascontiguousarray(values), rate)


def check_sound(path: Path, image: Image) -> None:
    """HbcError when outputs of that element type or rank are no sounds."""
    if not (image.element == I16 or image.element.is_float):
        raise error(
            f"cannot write `{image.name}` to `{path}`: {image.element} is no sound",
            image.span,
            "write a .npy file, or declare the output as i16 or a float type",
        )
    if len(image.extents) not in (1, 2):
        raise error(
            f"cannot write `{image.name}` to `{path}`: a sound has 1 or 2 dimensions, "
            f"`{image.name}` has {len(image.extents)}",
            image.span,
        )
    if path.suffix.lower() != WAV:
        soundfile(path)


def write_sound(path: Path, image: Image, array: Array, rate: int | None) -> None:
    """The output as 16-bit samples at `rate` samples per second."""
    import numpy as np

    check_sound(path, image)
    samples = array if array.ndim == 2 else array[:, None]
    samples = samples.T if _planar(image) else samples
    if not 1 <= samples.shape[1] <= 65535:
        raise error(
            f"cannot write `{image.name}` to `{path}`: {counted(samples.shape[1], 'channel')}",
            image.span,
        )
    if image.element != I16:
        samples = samples.astype(np.float64)
        note_clipped(path, image, samples, -1, tolerated=0)
        samples = _to_pcm(samples)
    whole = np.ascontiguousarray(samples, dtype="<i2")
    with replace_file(path) as beside:
        if path.suffix.lower() == WAV:
            _write_wave(beside, whole, rate or USUAL_RATE)
            return
        try:
            write_with_library(beside, path.suffix.lower(), whole, rate or USUAL_RATE)
        except SoundError as failure:
            raise error(
                f"cannot write `{image.name}` to `{path}`: {failure}", image.span
            ) from failure


def _write_wave(path: Path, samples: Array, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


def _to_pcm(samples: Array) -> Array:
    """-1..1 as 16-bit samples: rounded, clamped, NaN is silence."""
    import numpy as np

    known = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)
    levels: Array = np.rint(np.clip(known, -1, 1) * 32768)
    return np.minimum(levels, 32767).astype(np.int16)


def _fit_channels(samples: Array, path: Path, image: Image) -> Array:
    """[N, channels] samples in the declared rank and number of channels."""
    import numpy as np

    rank, channels = len(image.extents), samples.shape[1]
    if rank == 1:
        if channels > 1:
            notice(f"note: {path} has {channels} channels, of which `{image.name}` gets the mean")
        mean: Array = samples.mean(axis=1)
        return mean
    if rank != 2:
        raise unreadable(path, image, f"a sound has 1 or 2 dimensions, `{image.name}` has {rank}")
    first, last = channel_literals(image)
    declared = first if _planar(image) else last
    if declared is not None and declared != channels:
        if channels != 1:
            reason = f"it has {counted(channels, 'channel')}, `{image.name}` has {declared}"
            raise unreadable(path, image, reason)
        samples = np.repeat(samples, declared, axis=1)
    return samples.T if _planar(image) else samples


def _planar(image: Image) -> bool:
    """Whether the channels come first: [2, N]."""
    if len(image.extents) != 2:
        return False
    first, last = channel_literals(image)
    return first is not None and last is None
