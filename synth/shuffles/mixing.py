"""How few instructions bring together what lies apart: a potential that each raises by little.

R. W. Floyd, Permuting Information in Idealized Two-Level Storage (1972), with registers for pages. Let `n` of
the bytes that one output register wants lie together in one register: they count `n * log2(n)`, and all such
groups together are the potential. In the sources it is low, in the outputs high. An instruction of `m`
operands makes a register of at most `lanes` bytes; of a group's bytes in it, those that came from one operand
were together there, so that at most `log2(m)` is gained for each: `lanes * log2(m)` in all.

This holds while no byte of a register stands for two that are wanted: of a byte that is wanted several times
all but one are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log2

import numpy as np

from hbc.ir.moves.gather import UNDEFINED, Locations

ROUNDING = 1e-6


def mixing_bound(rows: Locations, forms: Iterable[tuple[int, int]]) -> int:
    """No program makes the rows (registers of locations, as `register_program` has them) with fewer
    instructions. `forms`: of each instruction its operands and its cost."""
    rate: float = max(log2(operands) / cost for operands, cost in forms if operands)
    different = np.unique(rows, axis=0)
    row, lane = np.nonzero(_first_of_each(different) >= 0)
    if not rate or not row.size:
        return 0
    lanes: int = rows.shape[1]
    sources = different[row, lane] // lanes
    _, together = np.unique(row, return_counts=True)
    _, apart = np.unique(np.stack([row, sources]), axis=1, return_counts=True)
    gain = float((together * np.log2(together)).sum() - (apart * np.log2(apart)).sum())
    return ceil(gain / (lanes * rate) - ROUNDING)


def _first_of_each(rows: Locations) -> Locations:
    """The rows, where each location is wanted once."""
    flat = rows.reshape(-1)
    _, first = np.unique(flat, return_index=True)
    once = np.full_like(flat, UNDEFINED)
    once[first] = flat[first]
    return once.reshape(rows.shape)
