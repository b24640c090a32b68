"""Pictures (PNG, JPEG and what else Pillow knows) as arrays and back.

A picture is [H, W] (grey), [H, W, C] or, when only the first extent is a literal 1, 3 or 4,
[C, H, W]. C literal 1, 3, 4 asks for grey, RGB, RGBA; a C that is a size takes what the file has.
u8 holds 0..255, u16 holds 0..65535, floats hold 0..1. Writing clamps, rounds to nearest and makes
NaN black; u8 and floats are written with 8 bits, u16 [H, W] with 16. Pillow knows 16 bits for grey
only: colours keep 8, which a note says.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.files.clipped import note_clipped
from hbc.cli.files.loaded import channel_literals, unreadable
from hbc.cli.files.png_damage import png_damage
from hbc.cli.files.replace_file import replace_file
from hbc.cli.show.report import notice
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import error
from hbc.ir.lang.types import BOOL, U8, U16

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from hbc.cli.files.loaded import Array

MODES = {1: "L", 3: "RGB", 4: "RGBA"}
# Those of `data.PICTURES`, whatever the file's name: of others Pillow would ask programs such as
# Ghostscript, and decode what few have looked at.
FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "PPM")
# What Pillow's readers raise on files that are damaged, or made to harm.
DAMAGED = (
    ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, EOFError, RuntimeError,
    SyntaxError, struct.error, zlib.error,
)  # fmt: skip


def read_picture(path: Path, image: Image) -> Array:
    """The picture in the declared element type, rank and channels; EXIF rotation is applied."""
    import numpy as np
    from PIL import Image as pillow
    from PIL import ImageOps, UnidentifiedImageError

    if not (image.element in (U8, U16) or image.element.is_float):
        raise unreadable(path, image, f"a picture cannot be {image.element}: use u8, u16 or floats")
    try:
        with path.open("rb") as file:
            damage = png_damage(file)
        if damage is not None:
            raise unreadable(path, image, damage)
        with _without_warnings(), pillow.open(path, formats=FORMATS) as opened:
            if image.element != U8 and _has_deep_colours(opened):
                notice(f"note: {path} is read with 8 of the 16 bits of its colours")
            picture: Picture = ImageOps.exif_transpose(opened)
            if picture.mode in ("I", "F"):
                raise unreadable(path, image, "it has 32 bits per pixel: save it as a .npy file")
            channels = _channels(path, image, picture.mode)
            _note_what_is_lost(path, image, picture, channels)
            if picture.mode.startswith("I;16"):
                values = _from_levels(_grey_as(channels, np.asarray(picture, np.uint16)), image)
            else:
                values = _from_levels(np.asarray(picture.convert(MODES[channels or 1])), image)
    except (UnidentifiedImageError, pillow.DecompressionBombError, *DAMAGED) as failure:
        raise unreadable(path, image, "it is not a picture that can be read") from failure
    if channels == 1:
        values = values.reshape(*values.shape[:2], 1)
    if _planar(image):
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Pillow warns of what is said about a picture, such as its date; its pixels are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_picture(path: Path, image: Image) -> None:
    """HbcError when outputs of that element type or rank are no pictures."""
    if not (image.element in (U8, U16, BOOL) or image.element.is_float):
        raise error(
            f"cannot write `{image.name}` to `{path}`: {image.element} is no picture",
            image.span,
            "write a .npy file, or declare the output as u8, u16 or a float type",
        )
    if len(image.extents) not in (2, 3):
        raise error(
            f"cannot write `{image.name}` to `{path}`: a picture has 2 or 3 dimensions, "
            f"`{image.name}` has {len(image.extents)}",
            image.span,
        )


def write_picture(path: Path, image: Image, array: Array) -> None:
    """The output as a picture; the suffix says which kind."""
    import numpy as np
    from PIL import Image as pillow

    check_picture(path, image)
    if image.element.is_float:
        # Filters overshoot at edges, and noise does at black and white.
        note_clipped(path, image, array.astype(np.float32), 0, tolerated=0.1)
    pixels = _to_levels(array, image)
    if pixels.ndim == 3:
        planar = _planar(image) or (pixels.shape[-1] not in MODES and pixels.shape[0] in MODES)
        pixels = pixels.transpose(1, 2, 0) if planar else pixels
        if pixels.shape[2] not in MODES:
            raise error(
                f"cannot write `{image.name}` to `{path}`: {counted(pixels.shape[2], 'channel')}, "
                "a picture has 1, 3 or 4",
                image.span,
            )
        pixels = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    if pixels.size == 0:
        raise error(f"cannot write `{image.name}` to `{path}`: it is empty", image.span)
    if pixels.dtype == np.uint16 and (pixels.ndim == 3 or path.suffix.lower() in (".jpg", ".jpeg")):
        notice(f"note: {path} is written with 8 of the 16 bits of `{image.name}`")
        pixels = ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 4 and path.suffix.lower() in (".jpg", ".jpeg"):
        raise error(f"cannot write `{image.name}` to `{path}`: JPEG knows no alpha", image.span)
    with replace_file(path) as beside:
        pillow.fromarray(np.ascontiguousarray(pixels)).save(beside)


def _channels(path: Path, image: Image, mode: str) -> int | None:
    """How many channels to make of a file of that mode; None for [H, W]."""
    rank = len(image.extents)
    if rank == 2:
        return None
    if rank != 3:
        raise unreadable(path, image, f"a picture has 2 or 3 dimensions, `{image.name}` has {rank}")
    first, last = channel_literals(image)
    declared = first if _planar(image) else last
    if declared is None:
        return 4 if "A" in mode or mode == "PA" else 1 if mode in ("1", "L", "I;16") else 3
    if declared not in MODES:
        raise unreadable(path, image, f"a picture has 1, 3 or 4 channels, not {declared}")
    return declared


def _note_what_is_lost(path: Path, image: Image, picture: Picture, channels: int | None) -> None:
    """A note where colours become grey, or an alpha that matters goes."""
    if (channels or 1) == 1 and _is_coloured(picture):
        notice(f"note: {path} has colours, of which `{image.name}` gets the brightness alone")
    if channels != 4 and picture.has_transparency_data:
        lowest, _ = picture.convert("RGBA").getchannel("A").getextrema()
        if lowest != 255:
            notice(f"note: {path} is transparent in places, which `{image.name}` does not get")


def _is_coloured(picture: Picture) -> bool:
    """Whether not all of its pixels are grey."""
    if picture.mode in ("1", "L", "LA", "La") or picture.mode.startswith("I;16"):
        return False
    red, green, blue = picture.convert("RGB").split()
    return not red.tobytes() == green.tobytes() == blue.tobytes()


def _planar(image: Image) -> bool:
    """Whether the channels come first: [3, H, W]."""
    if len(image.extents) != 3:
        return False
    first, last = channel_literals(image)
    return first in MODES and last is None


def _has_deep_colours(opened: Picture) -> bool:
    """Whether the file has 16 bits per channel of a colour; Pillow says so in its decoder's mode."""
    arguments = [argument for tile in getattr(opened, "tile", ()) for argument in tile[3:]]
    return opened.mode in ("RGB", "RGBA", "LA") and "16" in str(arguments)


def _grey_as(channels: int | None, grey: Array) -> Array:
    """Grey levels of 16 bits in as many channels; alpha is opaque."""
    import numpy as np

    if channels is None:
        return grey
    opaque = np.full_like(grey, 65535)
    planes = {1: [grey], 3: [grey] * 3, 4: [*[grey] * 3, opaque]}
    return np.stack(planes[channels], axis=2)


def _from_levels(pixels: Array, image: Image) -> Array:
    """Levels of bytes or of 16 bits as the declared type: u8 0..255, u16 0..65535, floats 0..1."""
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    top = 255 if pixels.dtype == np.uint8 else 65535
    if image.element == U8:
        return pixels if top == 255 else (pixels >> 8).astype(np.uint8)
    if image.element == U16:
        return pixels.astype(np.uint16) * np.uint16(65535 // top)
    return (pixels.astype(np.float32) / np.float32(top)).astype(numpy_dtype(image.element))


def _to_levels(array: Array, image: Image) -> Array:
    import numpy as np

    if image.element == BOOL:
        return array.astype(np.uint8) * np.uint8(255)
    if image.element in (U8, U16):
        return array
    unit = np.clip(np.nan_to_num(array.astype(np.float32), nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
    levels: Array = np.rint(unit * np.float32(255)).astype(np.uint8)
    return levels
