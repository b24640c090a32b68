"""What of an argument decides how the code takes it, and what the code is given: found anew at each call.

Calls on arguments of the same forms share a plan (`calls`). So all that a plan is made of is part of the
form, and where an array lies is not.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from hbc.cli.api.arrays import place, view_of
from hbc.cli.api.packed import Packed

Form = tuple[Any, ...]


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
