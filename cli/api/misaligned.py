"""Arrays that begin in the middle of an element, such as what stands behind the head of a file that was
read as bytes: C cannot read them in place, so calls get copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hbc.cli.api.arrays import copy_values, view_of
from hbc.cli.api.view import CPU
from hbc.ir.meaning.numpy_types import numpy_dtype


def on_copies(
    arrays: Sequence[Any], outs: Sequence[Any], call: Callable[[Sequence[Any], Sequence[Any]], Any]
) -> Any:
    """The call with copies of those that begin so, whose results then go where they were wanted: what
    `call` gives, with the outputs themselves. None where none begins so."""
    copies = {id(a): made for a in (*arrays, *outs) if (made := _copied(a)) is not None}
    if not copies:
        return None
    new = [copies.get(id(out), out) for out in outs]
    result = call([copies.get(id(a), a) for a in arrays], new)
    for out, copy in zip(outs, new, strict=True):
        if copy is not out:
            copy_values(copy, out, CPU)
    if isinstance(result, dict):
        return dict(zip(result, outs, strict=True)) if outs else result
    return outs[0] if outs else result


def _copied(array: Any) -> Any:
    view = view_of(array, "")
    if view.element is None or view.address % view.element.bytes == 0:
        return None
    copy = np.empty(view.shape, numpy_dtype(view.element))
    copy_values(array, copy, CPU)
    return copy
