"""Integers of 4 bits, two in a byte: what inputs of `i4` and `u4` are filled with, and arrays of int4 and
uint4 of ml_dtypes as the code takes them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hbc.cli.files.scalars import parameters
from hbc.frontend.program.funcs import Fill, Image, Packed, Pipeline
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I4, I8, U8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_BITS = 4


def in_pairs(values: Array) -> Array:
    """The low 4 bits of integers, those with even places in the last dimension in the low halves of bytes."""
    import numpy as np

    nibbles = values.astype(np.int8).view(np.uint8) & 15
    if nibbles.shape[-1] % 2:
        nibbles = np.concatenate([nibbles, np.zeros_like(nibbles[..., :1])], axis=-1)
    return np.ascontiguousarray(nibbles[..., ::2] | nibbles[..., 1::2] << _BITS)


def unpacked(image: Image, held: Packed) -> Image:
    """The input as it would be with a byte for each of its integers."""
    whole = I8 if held.element == I4 else U8
    extents = (*image.extents[:-1], held.extent)
    return replace(image, element=whole, extents=extents, packed=None)


def within(fill: Fill, held: Packed) -> Fill:
    """The fill with no more than the values that 4 bits hold."""
    if fill.kind != "random":
        return fill
    low, high = held.element.limits
    seed, *ends = fill.args
    least, most = map(int, ends) if ends else (low, high)
    return replace(fill, args=(seed, max(low, least), min(high, most)))


def arrays_in_pairs(
    p: Pipeline, arrays: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of a call, arrays of int4 and uint4 among them as bytes; sizes that their shapes alone
    say are added."""
    held = {i.name: i.packed for i in p.inputs if i.packed is not None}
    if not held or "ml_dtypes" not in sys.modules:
        return arrays, named
    import ml_dtypes
    import numpy as np

    types = {"i4": np.dtype(ml_dtypes.int4), "u4": np.dtype(ml_dtypes.uint4)}
    sizes = {s.name for s in p.sizes}
    found, said = list(arrays), dict(named)
    for at, name in enumerate(parameters(p)):
        own = held.get(name)
        value = arrays[at] if at < len(arrays) else named.get(name)
        if own is None or not isinstance(value, np.ndarray) or not value.ndim:
            continue
        if value.dtype != types[own.element.name]:
            continue
        if at < len(arrays):
            found[at] = in_pairs(value)
        else:
            said[name] = in_pairs(value)
        if isinstance(own.extent, ir.Var) and own.extent.name in sizes:
            said.setdefault(own.extent.name, value.shape[-1])
    return found, said
