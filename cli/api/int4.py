"""Arrays of ml_dtypes' int4 and uint4 in calls: the bytes that the code takes, and the shapes that they had,
which the bytes alone do not say."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hbc.cli.api.packed import Packed
from hbc.cli.files.nibbles import in_pairs
from hbc.cli.files.scalars import parameters
from hbc.frontend.program.funcs import Image, Pipeline
from hbc.ir.lang.types import I4

Shapes = Mapping[str, tuple[int, ...]]
"""Of the integers themselves, by input."""


def in_bytes(
    p: Pipeline, arrays: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any], Shapes]:
    """The arguments of a call, arrays of int4 and uint4 among them as bytes, and the shapes of these."""
    images = {i.name: i for i in p.inputs if i.packed is not None}
    if not images or "ml_dtypes" not in sys.modules:
        return arrays, named, {}
    found, said = list(arrays), dict(named)
    shapes: dict[str, tuple[int, ...]] = {}
    for at, name in enumerate(parameters(p)):
        value: Any = arrays[at] if at < len(arrays) else named.get(name)
        if type(value) is Packed:
            shape = value.shape
        elif name in images and is_array_of(images[name], value):
            shape = value.shape
            if at < len(arrays):
                found[at] = in_pairs(value)
            else:
                said[name] = in_pairs(value)
        else:
            continue
        if shape is not None:
            shapes[name] = shape
    return found, said, shapes


def to_pack(p: Pipeline, name: str, array: Any) -> Packed:
    """An input of the pipeline that is packed once."""
    image = next(i for i in p.inputs if i.name == name)
    if is_array_of(image, array):
        return Packed(p.name, name, in_pairs(array), array.shape)
    return Packed(p.name, name, array)


def is_array_of(image: Image, value: Any) -> bool:
    """Whether it is an array of ml_dtypes' type for the input's integers of 4 bits."""
    if image.packed is None or not isinstance(value, np.ndarray) or not value.ndim:
        return False
    ml_dtypes = sys.modules.get("ml_dtypes")
    if ml_dtypes is None:
        return False
    own = ml_dtypes.int4 if image.packed.element == I4 else ml_dtypes.uint4
    return bool(value.dtype == np.dtype(own))
