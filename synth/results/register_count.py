"""Counts what a gather between registers takes: one instruction for each that is not there already."""

from __future__ import annotations

import numpy as np

from hbc.ir.moves.gather import Gather


def instructions(gather: Gather, lanes: int) -> int:
    """The registers of the output, of so many elements, that are no register of the input. Where each
    is made by one instruction, as `instructions{...}` says, these are all."""
    rows = gather.index.reshape(-1, lanes)
    read = rows >= 0
    source = np.where(read, rows - np.arange(lanes), -1)
    first = source.max(axis=1)
    there = ((source == first[:, None]) | ~read).all(axis=1) & (first % lanes == 0)
    return int((~there & read.any(axis=1)).sum())
