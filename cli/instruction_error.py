"""What the oracle's bounds lack when tensor instructions do the sums: those that round otherwise.

The oracle allows each rounding half a unit in the last place and gradual underflow, in any order.
Rounding to odd is off by up to a whole unit. Flushed subnormals lose less than the least normal
number in each operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hbc.frontend.oracle import Reference
from hbc.ir.instruction import Instruction, Mode, Subnormals

_LEAST_NORMAL = 2.0**-126  # of f32, in which all float accumulators are


def with_instructions(
    expected: Mapping[str, Reference], instructions: Sequence[Instruction], operations: int
) -> Mapping[str, Reference]:
    """The references with bounds for code in which the instructions do up to so many operations."""
    roundings = [i.rounding for i in instructions if i.operands[i.accumulator].element.is_float]
    factor = 2.0 if any(r.mode is Mode.ODD for r in roundings) else 1.0
    flushed = any(r.subnormals is Subnormals.FLUSHED for r in roundings)
    least = _LEAST_NORMAL * operations if flushed else 0.0
    if factor == 1.0 and not least:
        return expected
    with np.errstate(over="ignore"):
        return {
            name: replace(r, bound=r.bound * factor + least) if r.element.is_float else r
            for name, r in expected.items()
        }
