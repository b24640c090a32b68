"""What a file holds as an array, and what readers of every format say and ask of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbc.frontend.program.funcs import Image
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]


@record
class Loaded:
    """An array as the kernel takes it: declared element type, C order. `rate` is that of a sound
    in samples per second."""

    array: Array
    rate: int | None = None


def unreadable(path: Path, image: Image, reason: str) -> HbcError:
    """The error for a file that cannot be the array of `image`."""
    return error(f"cannot read `{path}` for `{image.name}`: {reason}", image.span)


def channel_literals(image: Image) -> tuple[int | None, int | None]:
    """The first and the last extent where they are literals: where channels may be declared."""

    def literal(dim: int) -> int | None:
        extent = image.extents[dim]
        return int(extent.value) if isinstance(extent, ir.Const) else None

    return literal(0), literal(-1)
