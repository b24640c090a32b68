"""What the oracle's bounds lack when tensor instructions do the sums: those that round otherwise.

The oracle allows each rounding half a unit in the last place and gradual underflow, in any order.
Rounding to odd is off by up to a whole unit. Flushed subnormals lose less than the least normal
number in each operation. Sums of f16 add products that were not rounded before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hbc.cli.runs.work import count_work
from hbc.frontend.oracle.oracle import Reference, evaluate
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.instruction import Instruction, Mode, Product, Subnormals
from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import Array

_LEAST_NORMAL = 2.0**-126  # of f32, in which all float accumulators are


def expected_outputs(
    p: Pipeline,
    sizes: Mapping[str, int],
    inputs: Mapping[str, Array],
    instructions: Sequence[Instruction],
) -> Mapping[str, Reference]:
    """What the outputs must be of a kernel with these instructions."""
    references = evaluate(p, sizes, inputs, fused_sums(instructions))
    if not instructions:
        return references
    return with_instructions(references, instructions, count_work(p, sizes).total)


def fused_sums(instructions: Sequence[Instruction]) -> frozenset[DType]:
    """The half floats in which instructions add up products that no rounding precedes."""
    totals = (i.operands[i.accumulator].element for i in instructions)
    rounded = (i.rounding.product for i in instructions)
    return frozenset(
        t for t, r in zip(totals, rounded, strict=True) if t.is_narrow and r is Product.FUSED
    )


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
