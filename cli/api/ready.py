"""The short way of a call: NumPy's arrays alone, of forms that a call has had before.

A plan says all that was checked of the forms; what is left is to look the forms up, to find where the
arrays lie and to call the code, which checks alignment and overlap itself. So a third of the time is
left of the way that takes arguments of any kind (`calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hbc.cli.api.arrays import place
from hbc.cli.api.view import CPU
from hbc.ir.meaning.numpy_types import numpy_dtype

if TYPE_CHECKING:
    from hbc.cli.api.arguments import Plan
    from hbc.cli.api.library import Library

MOST_FORMS = 256  # that are remembered


class Ready:
    """What calls with one output, apart from all inputs, may take the short way with."""

    def __init__(self) -> None:
        # By the forms: the code with its sizes, and of what form the output is made where none is given.
        self._known: dict[tuple[Any, ...], tuple[Callable[..., int], Any, Any]] = {}

    def call(self, arrays: Sequence[Any], out: Any) -> Any:
        """The output; None where the forms are not known, or the code refused the call and wrote nothing."""
        form: list[Any] = []
        passed: list[int] = []
        for a in arrays:
            if type(a) is not np.ndarray:
                return None
            form += (a.shape, a.strides, a.dtype)
            passed.append(place(a))
        if out is not None:
            if type(out) is not np.ndarray:
                return None
            form += (out.shape, out.strides, out.dtype, out.flags.writeable)
        found = self._known.get(tuple(form))
        if found is None:
            return None
        code, shape, dtype = found
        if out is None:
            out = np.empty(shape, dtype)
        passed.append(place(out))
        return None if code(*passed) else out

    def note(self, arrays: Sequence[Any], out: Any, plan: Plan, library: Library) -> None:
        """The next call on arrays of these forms may go the short way, if there is one for them."""
        given = arrays if out is None else (*arrays, out)
        if plan.strides is not None or plan.device != CPU or library.threads is not None:
            return
        if any(type(a) is not np.ndarray for a in given):
            return
        form = [part for a in given for part in (a.shape, a.strides, a.dtype)]
        if out is not None:
            form.append(out.flags.writeable)
        if len(self._known) >= MOST_FORMS:
            self._known.clear()
        ((shape, element),) = plan.outputs
        self._known[tuple(form)] = partial(library.dense, *plan.sizes), shape, numpy_dtype(element)
