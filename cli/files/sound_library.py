"""FLAC and OGG (Vorbis) files, by the package soundfile (libsndfile), imported where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.ir.ground.diag import Diagnostic, ToolError

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

FORMATS = {".flac": ("FLAC", "PCM_16"), ".ogg": ("OGG", "VORBIS")}
BLOCK = 1 << 16  # frames: libsndfile's Vorbis keeps those of one call on the stack


class SoundError(Exception):
    """The file is none of these, or the format has no place for the samples; in libsndfile's words."""


def soundfile(path: Path) -> Any:
    """The package. ToolError where it, or its library, is not installed."""
    try:
        import soundfile
    except (ImportError, OSError) as missing:
        what = f"`{path}`: {path.suffix.removeprefix('.').upper()} takes the package soundfile"
        hint = "pip install 'hbc[sound]'; WAV needs nothing"
        raise ToolError(Diagnostic(f"{what}, which is not there", hint=hint)) from missing
    return soundfile


def read_with_library(path: Path) -> tuple[Array, int]:
    """Samples [N, channels] as float64, -1..1 but for what a lossy format adds, and the rate in samples per
    second. SoundError, also where samples are missing; ToolError as `soundfile`."""
    library = soundfile(path)
    try:
        with library.SoundFile(str(path)) as file:
            frames: int = file.frames
            samples: Array = file.read(dtype="float64", always_2d=True)
            rate: int = file.samplerate
    except (library.SoundFileError, RuntimeError) as failure:
        raise SoundError(_plain(failure)) from failure
    if len(samples) < frames:
        raise SoundError(f"it is cut off: {len(samples)} of {frames} samples are there")
    return samples, rate


def write_with_library(file: Path, suffix: str, samples: Array, rate: int) -> None:
    """16-bit samples [N, channels] to `file`, in the format of the suffix. SoundError; ToolError as
    `soundfile`."""
    library = soundfile(file.with_suffix(suffix))
    kind, subtype = FORMATS[suffix]
    try:
        with library.SoundFile(
            str(file), "w", rate, samples.shape[1], format=kind, subtype=subtype
        ) as out:
            for begin in range(0, len(samples), BLOCK):
                out.write(samples[begin : begin + BLOCK])
    except (library.SoundFileError, RuntimeError, ValueError) as failure:
        raise SoundError(_plain(failure)) from failure


def _plain(failure: Exception) -> str:
    """Without the name of the file, which the message has already."""
    said = getattr(failure, "error_string", None) or str(failure)
    return str(said).rstrip(".")
