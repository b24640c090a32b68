"""Two compiled kernels on the same inputs, called in turns: what they give, and how long each takes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from hbc.cli.compiled import Compiled, Runner, packs_of
from hbc.cli.files.inputs import Run
from hbc.cli.prepare import build_for_calls
from hbc.cli.runs.native import Called, Native, Repeat, output_shapes

LEAST_TURNS = 5
CALLS = Repeat(warmups=1, least=3, seconds=0.02, most=10_000)
"""Of a turn. The first call of each finds the arrays as the other kernel left the caches."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The median seconds of a call of each kernel, in how many turns; and per output, in how many of its
    elements the two differ, and by how much at most (NaN where one has a NaN alone)."""

    seconds: tuple[float, float]
    turns: int
    differences: dict[str, tuple[int, int, float]]

    @property
    def differ(self) -> bool:
        return any(count for count, _, _ in self.differences.values())


def in_turns(
    kernels: Sequence[Compiled], runners: Sequence[Runner], run: Run, threads: int, timeout: float,
    seconds: float, folder: Path,
) -> Turns:  # fmt: skip
    """Builds both and calls them for so many seconds in all. Their inputs, outputs and sizes are alike."""
    with ExitStack() as open_ones:
        called = []
        for n, (compiled, runner) in enumerate(zip(kernels, runners, strict=True)):
            own = folder / str(n)
            own.mkdir()
            library, _ = build_for_calls(compiled, own, runner)
            native = open_ones.enter_context(Native(library, threads, timeout, runner.emulator))
            called.append(_calls(native, compiled, run))
        end = time.monotonic() + seconds
        results = [[next(calls)] for calls in called]
        while len(results[0]) < LEAST_TURNS or time.monotonic() < end:
            for calls, own_results in zip(called, results, strict=True):
                own_results.append(next(calls))
    first, second = ([s for c in own_results for s in c.seconds] for own_results in results)
    return Turns(
        (median(first), median(second)), len(results[0]),
        _differences(results[0][0], results[1][0]),
    )  # fmt: skip


def _calls(native: Native, compiled: Compiled, run: Run) -> Iterator[Called]:
    shapes = output_shapes(compiled.chosen.pipeline, run.sizes)
    sizes, packs = list(run.sizes.values()), packs_of(compiled)
    while True:
        yield native.call(
            compiled.source.name, sizes, run.inputs, shapes, CALLS, packs=packs,
            in_place=compiled.chosen.pipeline.in_place,
        )  # fmt: skip


def _differences(first: Called, second: Called) -> dict[str, tuple[int, int, float]]:
    found = {}
    for name, a in first.outputs.items():
        wide = [x.astype("f8") for x in (a, second.outputs[name])]
        with np.errstate(invalid="ignore"):
            alike = (wide[0] == wide[1]) | np.isnan(wide[0]) & np.isnan(wide[1])
            apart = np.abs(wide[0] - wide[1])[~alike]
        found[name] = (apart.size, a.size, float(apart.max()) if apart.size else 0.0)
    return found
