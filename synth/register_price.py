"""Prices gathers between registers by instructions: one for each register that is not there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hbc.ir.gather import Gather
from hbc.synth.cost import Cost
from hbc.synth.problem import Problem


@dataclass(frozen=True, slots=True)
class RegisterPricing:
    """For sketches whose holes are `instructions{...}`, so that one instruction makes each register of
    `lanes` elements. Every hole is a run of its own."""

    lanes: int
    runs: Mapping[int, tuple[int, ...]]

    def run(self, last: int, chosen: Mapping[int, Gather]) -> Cost:
        made = instructions(chosen[last], self.lanes)
        return Cost("instructions", (("instructions", made),), float(made))


def register_pricing(problem: Problem, lanes: int) -> RegisterPricing:
    return RegisterPricing(lanes, {hole: (hole,) for hole in problem.holes})


def instructions(gather: Gather, lanes: int) -> int:
    """The registers of the output that are no register of the input."""
    rows = gather.index.reshape(-1, lanes)
    read = rows >= 0
    source = np.where(read, rows - np.arange(lanes), -1)
    first = source.max(axis=1)
    there = ((source == first[:, None]) | ~read).all(axis=1) & (first % lanes == 0)
    return int((~there & read.any(axis=1)).sum())
