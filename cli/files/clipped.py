"""The note on values that a picture or a sound has no room for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.show.report import notice
from hbc.frontend.program.funcs import Image

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array


def note_clipped(path: Path, image: Image, array: Array, lowest: int, tolerated: float) -> None:
    """Says how many of these floats are outside of `lowest` .. 1, where that is more than the share
    `tolerated`; and that some are NaN."""
    import numpy as np

    outside = (array < lowest) | (array > 1)
    share = float(np.mean(outside)) if array.size else 0.0
    if share > tolerated:
        least, largest = float(np.nanmin(array)), float(np.nanmax(array))
        notice(
            f"note: {path} is clipped: {100 * share:.2g} % of `{image.name}` is outside of {lowest} .. 1, "
            f"from {least:.3g} to {largest:.3g}"
        )
    if np.isnan(array).any():
        notice(f"note: {path}: `{image.name}` has NaN, which is written as 0")
