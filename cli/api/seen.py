"""What of an argument decides how the code takes it, and what the code is given: found anew at each call.

Calls on arguments of the same forms share a plan (`calls`). So all that a plan is made of is part of the
form, and where an array lies is not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from hbc.cli.api.arrays import place, view_of
from hbc.cli.api.packed import Packed
from hbc.cli.files.scalars import scalar_array
from hbc.codegen.c.by_value import by_value
from hbc.ir.ground.diag import ArgumentError, HbcError
from hbc.ir.lang.types import BOOL, F32, F64, DType

Form = tuple[Any, ...]

# Floats below are rounded to a number that the type holds: half a unit above its largest (IEEE 754).
_LIMITS = {F32: math.ldexp(2 - 2.0**-24, 127), F64: math.inf}


def seen(array: Any, what: str) -> tuple[Form, int, Any]:
    """The form of an array of any library, its address, and what must live as long as the call does.
    ArgumentError as `view_of`, which names `what`."""
    if type(array) is np.ndarray:
        return (array.shape, array.strides, array.dtype), place(array), None
    if type(array) is Packed:
        form, _, _ = seen(array.array, what)
        return ("packed", array.kernel, array.name, form), 0, None
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor) and _is_strided(array, torch):
        # What `view_of` reads, as torch has it: a fifth of the time.
        form = (
            array.shape,
            array.stride(),
            array.dtype,
            array.device,
            array.requires_grad,
            array.is_leaf,
        )
        return form, array.data_ptr(), None
    view = view_of(array, what)
    form = view.shape, view.strides, view.element, view.type_name, view.device, view.writable
    return form, view.address, view.held


def _is_strided(tensor: Any, torch: Any) -> bool:
    """Whether what lies at its address, by its strides, is its elements: not of sparse tensors, nor of
    views that negate (the imaginary part of a conjugate)."""
    return tensor.layout is torch.strided and not getattr(tensor, "is_neg", bool)()


def taken(name: str, element: DType) -> Callable[[Any], Any]:
    """How a scalar of the type is given to the code: numbers of Python's as they are, which ctypes
    rounds as C does, and others by way of an array without dimensions. ArgumentError for what is none."""

    def otherwise(value: Any) -> Any:
        try:
            return by_value(element.name, scalar_array(name, element, value).tobytes())
        except HbcError as failure:
            raise ArgumentError(failure.diagnostics) from None

    if element.is_int:
        low, high = element.limits
        return lambda v: v if type(v) is int and low <= v <= high else otherwise(v)
    if element in _LIMITS:
        limit = _LIMITS[element]
        return lambda v: v if type(v) is float and -limit < v < limit else otherwise(v)
    if element == BOOL:
        return lambda v: int(v) if type(v) is bool else otherwise(v)
    return otherwise
