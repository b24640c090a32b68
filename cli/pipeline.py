"""From a file to a checked program, and by all passes to a kernel ready to be printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from hbc.cli.files.one_kernel import one_kernel
from hbc.cli.files.read_source import is_sketch, read_source, source_name
from hbc.cli.once import Once
from hbc.cli.own.own_movements import use_own_movements
from hbc.cli.passes import PASSES, has_tensor_instructions
from hbc.frontend.lowering.together import together
from hbc.frontend.program.by_size import apart, plain_loops, possible, several
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, Feature, Target, schedule_order
from hbc.ir.lang.types import FRAGMENTS, Memory


def load_passes(target: Target) -> None:
    """Imports and reads what the passes of the target need besides, before the first of them is timed."""
    use_own_movements(target)
    if has_tensor_instructions(target):
        import hbc.eqsat.choosing.select
        import hbc.eqsat.operands.check
    if target.machine == GPU:
        import hbc.cli.gpu_passes  # noqa: F401


def features_of(target: Target) -> list[Feature]:
    """What code for the target needs apart from its tensor instructions, as far as it is described."""
    from hbc.cli.instruction_set import features

    base = target
    while base.instruction_sets and base.falls_back is not None:
        base = TARGETS[base.falls_back]
    return [f for f in features() if f.cpuinfo in base.needs] if base.needs else []


def lower_to_kernel(
    p: Pipeline,
    schedule: Schedule | None,
    target: Target,
    after: Callable[[str, Kernel], None] | None = None,
    timings: dict[str, float] | None = None,
    before: str | None = None,
    once: Once | None = None,
) -> Kernel:
    """Runs every pass, or those before the one named. `after` sees the kernel after each; `timings`
    collects seconds by pass; `once` keeps what the same schedule needs for other targets too. Of a schedule
    that is several by size each is lowered by itself."""
    if schedule is not None and schedule.choices:
        return _by_size(p, schedule, target, after, timings, before)
    load_passes(target)
    begin = time.perf_counter()
    once = Once() if once is None else once
    kernel = once.lowered(p, schedule, target)
    for name, alternatives in groupby(PASSES, key=attrgetter("name")):
        if name == before:
            break
        for step in alternatives:
            if step.when.holds(kernel, target):
                kernel = once.after(step, kernel, target)
        if timings is not None:
            timings[name] = time.perf_counter() - begin
        if after is not None:
            after(name, kernel)
        begin = time.perf_counter()
    return kernel


def _by_size(
    p: Pipeline, schedule: Schedule, target: Target, after: Callable[[str, Kernel], None] | None,
    timings: dict[str, float] | None, before: str | None,
) -> Kernel:  # fmt: skip
    """The kernels of all its choices as one; so it is seen after each pass, too."""
    each = apart(schedule)
    seen: list[dict[str, Kernel]] = []
    spent: list[dict[str, float]] = []
    kernels = []
    for s in each:
        own: dict[str, Kernel] = {}
        took: dict[str, float] = {}
        watch = own.__setitem__ if after is not None else None
        kernels.append(lower_to_kernel(p, s, target, watch, took, before))
        seen.append(own)
        spent.append(took)
    if timings is not None:
        timings.update({name: sum(took[name] for took in spent) for name in spent[0]})
    made: dict[tuple[int, ...], Kernel] = {}  # what a pass left alone stays the same object

    def whole(parts: list[Kernel]) -> Kernel:
        key = tuple(map(id, parts))
        if key not in made:
            made[key] = together(schedule.choices, each, parts)
        return made[key]

    if after is not None:
        for name in seen[0]:
            after(name, whole([own[name] for own in seen]))
    return whole(kernels)


def load_pipeline(
    kernel: Path | Source, settings: Mapping[str, str], fix_sizes: bool = False
) -> Pipeline:
    """Reads, parses and checks a `.hb` file, or a text that is none. UsageError for a sketch."""
    from hbc.frontend.checks.check import check
    from hbc.frontend.text.parse import parse

    if isinstance(kernel, Path):
        if is_sketch(kernel):
            hint = f"hbc synth {kernel}"
            raise UsageError(Diagnostic(f"`{kernel}` is a sketch, not a kernel", hint=hint))
        kernel = Source(source_name(kernel), read_source(kernel))
    only = one_kernel(kernel, None)
    assert isinstance(only, Source)
    return check(parse(only), settings, fix_sizes)


def choose_schedule(p: Pipeline, target: str, name: str | None) -> Schedule | None:
    """The named schedule; else, for the target or those that it falls back on, all that have a condition and
    the first that has none (of those for a GPU by `_rank`), by size; plain
    loops in the place of that one where all have a condition. None without any."""
    if name is not None:
        for s in p.schedules:
            if s.name == name:
                return s
        have = [s.name for s in p.schedules]
        listed = ", ".join(f"`{n}`" for n in have) or "none"
        hint = did_you_mean(name, have) or f"the schedules of this file: {listed}"
        raise UsageError(Diagnostic(f"no schedule `{name}` in {p.source.name}", None, hint))
    left = possible(p, _fitting(p, target))
    if not left:
        return None
    if left[-1].condition is not None:
        left.append(plain_loops(target))
    return several(left, target)


def _fitting(p: Pipeline, target: str) -> Iterator[Schedule]:
    """In the order in which they are asked: those for the target itself first."""
    for t in schedule_order(target):
        fitting = [s for s in p.schedules if t in s.targets]
        yield from (s for s in fitting if s.condition is not None)
        rest = [s for s in fitting if s.condition is None]
        if rest:
            yield min(rest, key=_rank)
            return


def _rank(s: Schedule) -> int:
    """Sums in the fragments of tensor cores go first, those of one architecture alone behind them."""
    kept = {d.args[0] for line in s.lines for d in line.directives if d.name == "store_in"}
    if kept & {Memory.MMA, Memory.WMMA}:
        return 0
    return 1 if kept & FRAGMENTS else 2
