"""What a file says of its arrays, as text."""

from __future__ import annotations

from hbc.frontend.program.funcs import Image
from hbc.ir.lang.show import show


def declared_type(image: Image) -> str:
    """The type of an array as the file has it: `f32[M, N]`, and `i4[N, K]` of what is packed."""
    element, extents = image.element, image.extents
    if image.packed is not None:
        element, extents = image.packed.element, (*extents[:-1], image.packed.extent)
    return f"{element}[{', '.join(map(show, extents))}]"
