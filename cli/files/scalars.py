"""Scalars: numbers for inputs that have no dimensions, from a command line or a call in Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError
from hbc.ir.lang.types import BOOL, DType

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

TRUTH = {"true": True, "false": False, "1": True, "0": False}


def parameters(p: Pipeline) -> dict[str, DType | None]:
    """What a call takes, in the order of the file: the element type of each scalar, None for arrays. Scalars
    that serve as sizes are among them."""
    sized = [(s.span, s.name, s.element) for s in p.scalar_sizes]
    found = [(i.span, i.name, i.element if i.is_scalar else None) for i in p.inputs]
    found += sized
    if sized:
        found.sort(key=lambda one: one[0].start if one[0] is not None else 0)
    return {name: element for _, name, element in found}


def given_scalars(
    p: Pipeline, given: Mapping[str, Path]
) -> tuple[dict[str, int], dict[str, Array], dict[str, Path]]:
    """`--input` texts apart: values of scalars that serve as sizes, of others, and the files."""
    types, sized = parameters(p), {s.name for s in p.sizes}
    sizes: dict[str, int] = {}
    values: dict[str, Array] = {}
    files: dict[str, Path] = {}
    for name, path in given.items():
        element = types.get(name)
        if element is None:
            files[name] = path
            continue
        value = scalar_array(name, element, _parsed(name, element, str(path)))
        if name in sized:
            sizes[name] = int(value[()])
        else:
            values[name] = value
    return sizes, values, files


def _parsed(name: str, element: DType, text: str) -> int | float | bool:
    try:
        if element == BOOL:
            return TRUTH[text]
        return int(text.replace("_", ""), 0) if element.is_int else float(text)
    except (ValueError, KeyError):
        kind = (
            "an integer"
            if element.is_int
            else "`true` or `false`"
            if element == BOOL
            else "a number"
        )
        said = f"`--input {name}={text}`: `{name}` is one {element}, given as {kind}"
        raise UsageError(Diagnostic(said)) from None


def scalar_array(name: str, element: DType, value: Any) -> Array:
    """The number as an array without dimensions. HbcError for what the type does not hold: a float for an
    integer, a number out of range, a truth for a number. Floats are rounded to the nearest."""
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    plain = _plain(name, element, value)
    if element == BOOL:
        if not isinstance(plain, bool):
            raise _wrong(name, element, value, "pass `True` or `False`")
        return np.asarray(plain, np.bool_)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise _wrong(name, element, value, "pass a number")
    if element.is_int:
        if not isinstance(plain, int):
            raise _wrong(name, element, value, f"pass `int({plain})`")
        low, high = element.limits
        if not low <= plain <= high:
            raise HbcError(Diagnostic(f"`{name}` is {plain}, and {element} holds {low} .. {high}"))
        return np.asarray(plain, numpy_dtype(element))
    with np.errstate(all="ignore"):
        rounded = np.asarray(_as_float(plain), np.float64).astype(numpy_dtype(element))
    made = float(rounded.astype(np.float64))
    # A type without infinities makes NaN of what is too large.
    if not math.isfinite(made) and made != plain and not _is_nan(plain):
        shown = f"{plain:g}" if isinstance(plain, float) else f"{plain}"
        raise HbcError(Diagnostic(f"`{name}` is {shown[:40]}, which is too large for {element}"))
    return rounded


def _is_nan(number: int | float) -> bool:
    return isinstance(number, float) and math.isnan(number)


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _plain(name: str, element: DType, value: Any) -> Any:
    """A number of Python's, out of a scalar or an array without dimensions of another library."""
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "item"):
        if tuple(shape) != ():
            said = f"`{name}` is one {element}, and what is given has the shape {tuple(shape)}"
            raise HbcError(Diagnostic(said, hint="pass one element, such as `x[0]`"))
        return value.item()
    return value


def _wrong(name: str, element: DType, value: Any, hint: str) -> HbcError:
    kind = "an integer" if element.is_int else "a truth value" if element == BOOL else "a number"
    said = f"`{name}` is {value!r} ({type(value).__name__}), and {element} takes {kind}"
    return HbcError(Diagnostic(said, hint=hint))
