"""Vector expressions of the IR, run by the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from tensors import arrays

from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import Expr, Ramp, Store, const_index
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = npt.NDArray[Any]


def lane_values(e: Expr, data: Mapping[str, Array]) -> Array:
    """The lanes of `e`, which reads the buffers of `tensors.arrays`: elements that `data` has not
    must not be read."""
    lanes, element = e.type.lanes, e.type.element
    where = Ramp(const_index(0), const_index(1), lanes) if lanes > 1 else const_index(0)
    inputs = [
        Argument(name, arrays()[name], (const_index(len(x)),), output=False)
        for name, x in sorted(data.items())
    ]
    out = np.ones(lanes, numpy_dtype(element))
    result = Argument("out", element, (const_index(lanes),), output=True)
    kernel = Kernel("k", (), (*inputs, result), (), (), Store("out", where, e))
    with np.errstate(all="ignore"):
        run(kernel, {}, {**data, "out": out})
    return out
