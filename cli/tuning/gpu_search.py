"""The search of `hbc tune` for a GPU: candidates compiled by nvcc, weighed by what it says of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import combinations
from pathlib import Path

from hbc.cli.measuring.guard import guarded
from hbc.codegen.build.nvcc import Resources, build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.automatic.points import Made
from hbc.frontend.automatic_gpu.points import GpuSpace
from hbc.frontend.costs.choices import Point
from hbc.ir.ground.diag import HbcError, InternalError
from hbc.ir.ground.record import record
from hbc.ir.host.scratch import scratch_folder

BEST = 3  # whose choices are tried together
Measure = Callable[[CudaSource], "float | str"]
Running = dict[Future[list[Resources]], tuple[int, Made, CudaSource]]


@record
class Weighed:
    """A candidate: what nvcc says of its kernel with the most registers, cycles by the model with these;
    `seconds` where they were measured; or the `reason` why it cannot be the result."""

    made: Made
    resources: Resources | None = None
    cycles: float | None = None
    reason: str = ""
    seconds: float | None = None

    @property
    def order(self) -> tuple[bool, float, bool, float]:
        """The least is the best: measured ones first, then those that keep all in registers."""
        spills = self.resources is not None and self.resources.spills > 0
        measured = math.inf if self.seconds is None else self.seconds
        return bool(self.reason), measured, spills, math.inf if self.cycles is None else self.cycles


def searched(
    space: GpuSpace, settings: Mapping[str, str], arch: str, trials: int, until: float,
    processes: int, measure: Measure | None,
) -> list[Weighed]:  # fmt: skip
    """What was tried, that of `auto` first. `until`, as `time.monotonic` has it: no other begins from then.
    `measure`: the seconds of a call, or what is wrong with it; None where there is no GPU."""
    found: dict[int, Weighed] = {}
    with scratch_folder() as folder, ThreadPoolExecutor(processes) as pool:
        running: Running = {}
        for number, made in enumerate(_in_order(space, trials)):
            if number and time.monotonic() > until:
                break
            try:
                kernel = guarded(
                    space.pipeline, made.text, space.target, settings, made.selects, True
                )
                source = emit_cuda(kernel, space.target)
            except HbcError as refusal:
                found[number] = Weighed(made, reason=refusal.diagnostics[0].message)
                continue
            out = Path(folder) / f"{number}.cubin"
            running[pool.submit(build_cuda, source, out, "cubin", (arch,))] = number, made, source
            if len(running) >= processes:
                found |= _finished(space, running, measure, "FIRST_COMPLETED")
        found |= _finished(space, running, measure, "ALL_COMPLETED")
    return [found[number] for number in sorted(found)]


def _in_order(space: GpuSpace, trials: int) -> Iterator[Made]:
    """The schedule of `auto`; those that differ from it in one choice, the fewest cycles first; then what the
    first of these have in common."""
    start = space.made({})
    seen = {start.text}
    singles: list[tuple[float, Point, Made]] = []
    for name, options in start.asked.items():
        for option in options[1:]:
            made = space.made({name: option})
            if made.text and made.text not in seen:
                seen.add(made.text)
                singles.append((made.cycles or math.inf, {name: option}, made))
    singles.sort(key=lambda each: each[0])
    pairs = (
        space.made({**a, **b})
        for (_, a, _), (_, b, _) in combinations(singles[:BEST], 2)
        if not a.keys() & b.keys()
    )
    tried = [start, *(m for _, _, m in singles)]
    tried += [m for m in pairs if m.text and m.text not in seen]
    return (m for m in tried[:trials] if m.text)


def _finished(
    space: GpuSpace, running: Running, measure: Measure | None, when: str
) -> dict[int, Weighed]:  # fmt: skip
    """Those that are compiled by then, by their numbers."""
    weighed: dict[int, Weighed] = {}
    done, _ = wait(running, return_when=when)
    for future in sorted(done, key=lambda f: running[f][0]):
        number, made, source = running.pop(future)
        try:
            weighed[number] = _weighed(space, made, source, future.result(), measure)
        except (HbcError, InternalError) as failure:
            weighed[number] = Weighed(made, reason=said_of(failure))
    return weighed


def said_of(failure: HbcError | InternalError) -> str:
    """What a failure says."""
    return failure.diagnostics[0].message if isinstance(failure, HbcError) else str(failure)


def _weighed(
    space: GpuSpace, made: Made, source: CudaSource, used: list[Resources], measure: Measure | None
) -> Weighed:
    most = max(used, key=lambda r: (r.spills, r.registers), default=None)
    if most is None:
        return Weighed(made, reason="nvcc says nothing of its kernels")
    cycles = space.made(made.point, most.registers).cycles
    if cycles == math.inf or not most.blocks:
        return Weighed(made, most, reason="a multiprocessor has no room for one of its blocks")
    if measure is None:
        return Weighed(made, most, cycles)
    took = measure(source)
    if isinstance(took, str):
        return Weighed(made, most, cycles, took)
    return Weighed(made, most, cycles, seconds=took)
