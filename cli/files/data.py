"""Arrays from and to files: `.npy` here, pictures and sounds in `picture` and `sound`.

The suffix decides. `.npy` must have the declared element type and rank; bf16 is read from uint16,
from ml_dtypes' bfloat16 or from the raw 2-byte type that NumPy saves it as, and written as uint16; floats
of 8 bits the same of uint8.
Pictures and sounds are adapted to the declared element type, rank and channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.files.loaded import Loaded, unreadable
from hbc.cli.files.npy_file import NpyError, read_npy
from hbc.cli.files.replace_file import check_replaceable, replace_file
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.host.file_bytes import check_regular
from hbc.ir.lang.types import DType

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm"})
SOUNDS = frozenset({".wav", ".flac", ".ogg"})


def read_array(path: Path, image: Image) -> Loaded:
    """The file as an array for `image`. HbcError when it is unreadable, of the wrong element type
    or of the wrong rank. Large `.npy` files are mapped, not read."""
    try:
        suffix = _suffix(path, image)
        check_regular(path)
        match suffix:
            case ".npy":
                return Loaded(_read_npy(path, image))
            case suffix if suffix in SOUNDS:
                from hbc.cli.files.sound import read_sound

                return read_sound(path, image)
            case _:
                from hbc.cli.files.picture import read_picture

                return Loaded(read_picture(path, image))
    except OSError as failure:
        raise unreadable(path, image, failure.strerror or str(failure)) from failure


def write_array(path: Path, image: Image, array: Array, rate: int | None) -> None:
    """Writes an output. A picture's values are clamped and rounded to 8 or 16 bits; a sound is
    written as 16-bit PCM, or as Vorbis makes of it, at `rate` (44,100 when None)."""
    match _suffix(path, image):
        case ".npy":
            import numpy as np

            from hbc.ir.meaning.numpy_types import PLAIN, bits_dtype

            raw = array if image.element in PLAIN else array.view(bits_dtype(image.element))
            raw = np.ascontiguousarray(raw)
            # Not np.save: where it runs out of room, it does not say so.
            header = np.lib.format.header_data_from_array_1_0(raw)
            with replace_file(path) as beside, beside.open("wb") as file:
                np.lib.format.write_array_header_1_0(file, header)
                file.write(raw.data)
        case suffix if suffix in SOUNDS:
            from hbc.cli.files.sound import write_sound

            write_sound(path, image, array, rate)
        case _:
            from hbc.cli.files.picture import write_picture

            write_picture(path, image, array)


def check_writable(paths: Mapping[str, Path], images: tuple[Image, ...]) -> None:
    """HbcError now rather than after the run: unknown suffix, missing folder, not a file, an
    element type or rank that the format has no place for."""
    for image in images:
        path = paths.get(image.name)
        if path is None:
            continue
        suffix = _suffix(path, image)
        if suffix in SOUNDS:
            from hbc.cli.files.sound import check_sound

            check_sound(path, image)
        elif suffix in PICTURES:
            from hbc.cli.files.picture import check_picture

            check_picture(path, image)
        check_replaceable(path)


def _suffix(path: Path, image: Image) -> str:
    suffix = path.suffix.lower()
    known = {".npy", *PICTURES, *SOUNDS}
    if suffix not in known:
        hint = did_you_mean(suffix, known) or "use .npy, .png, .jpg, .wav or .flac"
        what = f"no format has the suffix `{suffix}`" if suffix else "its name has no suffix"
        raise error(f"`{path}` for `{image.name}`: {what}", hint=hint)
    return suffix


def _read_npy(path: Path, image: Image) -> Array:
    import numpy as np

    try:
        raw = read_npy(path)
    except NpyError as failure:
        raise unreadable(path, image, str(failure)) from failure
    if raw.ndim != len(image.extents):
        raise error(
            f"`{path}` has {counted(raw.ndim, 'dimension')} {list(raw.shape)}, "
            f"but `{image.name}` has {len(image.extents)}",
            image.span,
        )
    return np.ascontiguousarray(_as_element(raw, path, image))


def _as_element(raw: Array, path: Path, image: Image) -> Array:
    import numpy as np

    from hbc.ir.meaning.numpy_types import PLAIN, bits_dtype, numpy_dtype

    wanted = np.dtype(numpy_dtype(image.element))
    native = raw.dtype.newbyteorder("=")
    if native == wanted:
        return raw.astype(wanted, copy=False)
    bits = bits_dtype(image.element)
    if image.element not in PLAIN and native in (bits, np.dtype(f"V{bits.itemsize}")):
        return raw.astype(native, copy=False).view(wanted)
    if image.packed is not None:
        raise error(
            f"`{path}` holds {raw.dtype.name}, but `{image.name}` is {image.packed.element}", image.span,
            "save bytes of two each, the first in the low bits: "
            f'np.save("{path.name}", a[..., ::2] & 15 | a[..., 1::2] << 4) of uint8',
        )  # fmt: skip
    raise error(
        f"`{path}` holds {raw.dtype.name}, but `{image.name}` is {image.element}",
        image.span,
        f'convert it: np.save("{path.name}", {_conversion(image.element)})',
    )


def _conversion(element: DType) -> str:
    from hbc.ir.meaning.numpy_types import PLAIN, bits_dtype, numpy_dtype

    if element not in PLAIN:
        name = numpy_dtype(element).name
        return f"a.astype(ml_dtypes.{name}).view(np.{bits_dtype(element)})"
    numpy_name = {"f": "float", "i": "int", "u": "uint"}.get(element.name[0], "")
    return f"a.astype(np.{numpy_name}{element.bits})" if numpy_name else "a.astype(np.bool_)"
