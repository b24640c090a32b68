"""The pipeline: the one list of passes from a checked program to a kernel ready to be printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from hbc.cli.files.read_source import is_sketch, read_source, source_name
from hbc.codegen.gpu.legalize import gpu_legalize
from hbc.frontend.lowering.lower import lower
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.algebra.simplify import simplify_kernel
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import Feature
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, Target, schedule_order
from hbc.ir.lang.types import FRAGMENTS
from hbc.ir.passes.carry import carry
from hbc.ir.passes.forward import forward
from hbc.ir.passes.hoist import hoist
from hbc.ir.passes.jam import jam
from hbc.ir.passes.legalize import legalize
from hbc.ir.passes.partition import partition
from hbc.ir.passes.promote import promote
from hbc.ir.passes.roll import roll
from hbc.ir.passes.rotate import rotate
from hbc.ir.passes.share import share
from hbc.ir.passes.unroll import unroll
from hbc.ir.passes.unroll_limit import refuse_long
from hbc.ir.passes.vector_math import expand_math
from hbc.ir.passes.vectorize import vectorize
from hbc.ir.passes.wide_loads import widen_loads
from hbc.ir.vectors.lane_limit import refuse_wide

Pass = Callable[[Kernel, Target], Kernel]


def load_passes(target: Target) -> None:
    """Imports what the passes of the target need besides, before the first of them is timed."""
    if target.instruction_sets or target.isa:
        import hbc.eqsat.choosing.select
        import hbc.eqsat.operands.check
    if target.machine == GPU:
        import hbc.cli.gpu_passes  # noqa: F401


def on_gpu(name: str, kernel: Kernel) -> Kernel:
    """The kernel after the pass of that name for GPUs."""
    from hbc.cli.gpu_passes import GPU_PASSES

    return GPU_PASSES[name](kernel)


def select_instructions(kernel: Kernel, target: Target) -> Kernel:
    """The kernel with the tensor instructions of its target, where it has any."""
    if not target.instruction_sets and not target.isa:
        return kernel
    from hbc.cli.instruction_set import instructions_of
    from hbc.cli.show.report import show_diagnostics
    from hbc.eqsat.choosing.report import Record, cut_short
    from hbc.eqsat.choosing.select import select

    records: list[Record] = []
    found = select(kernel, instructions_of(target), records)
    show_diagnostics(cut_short(records))
    return on_gpu("selected", found) if target.machine == GPU and found.instructions else found


STEPS: tuple[tuple[str, Pass], ...] = (
    ("simplify", lambda k, t: simplify_kernel(k)),
    # Before vectorize, when conditions are not masks yet.
    ("partition", lambda k, t: k.map_body(partition)),
    # Vector loops first: an unrolled loop around them then copies one vector statement.
    ("vectorize", lambda k, t: k.map_body(lambda s: vectorize(refuse_wide(refuse_long(s, t), t)))),
    ("unroll", lambda k, t: k.map_body(unroll)),
    # When unrolled loops have made indices constant.
    ("fold-tables", lambda k, t: on_gpu("fold-tables", k) if t.machine == GPU else k),
    ("simplify-vectors", lambda k, t: simplify_kernel(k)),
    # When a vector statement says all that it does, and before it is cut into registers.
    ("private-tiles", lambda k, t: on_gpu("private-tiles", k) if t.machine == GPU else k),
    ("select", select_instructions),
    ("forward", lambda k, t: forward(k) if k.instructions else k),
    # When every product has its loops, and all accumulators of a block their own.
    ("jam", lambda k, t: k.map_body(jam) if k.instructions else k),
    # Before statements are cut into registers, of which long ones would need too many.
    ("roll", lambda k, t: roll(k) if k.instructions else k),
    ("expand-math", lambda k, t: k if t.machine == GPU else expand_math(k)),
    ("legalize", lambda k, t: gpu_legalize(k, t) if t.machine == GPU else legalize(k, t)),
    ("carry", lambda k, t: carry(k, t.machine == GPU)),
    ("gather-updates", lambda k, t: on_gpu("gather-updates", k) if t.machine == GPU else k),
    # After legalize, when every access has its final width.
    ("promote", lambda k, t: promote(k)),
    ("share", lambda k, t: share(k)),
    # After share, which names loads of the same elements, not those with some in common.
    ("wide-loads", lambda k, t: widen_loads(k) if t.vector_bits == 512 else k),
    # After share, when each load stands once.
    ("rotate", lambda k, t: on_gpu("rotate", k) if t.machine == GPU else k.map_body(rotate)),
    # Last, when all that can be in registers is.
    ("hoist", lambda k, t: k.map_body(hoist)),
    ("reuse-shared", lambda k, t: on_gpu("reuse-shared", k) if t.machine == GPU else k),
    # Last of what knows whole fragments.
    ("fragment-lanes", lambda k, t: on_gpu("fragment-lanes", k) if t.machine == GPU else k),
    # After everything that moves an access.
    ("barriers", lambda k, t: on_gpu("barriers", k) if t.machine == GPU else k),
)
PASSES: tuple[str, ...] = ("lower", *(name for name, _ in STEPS))


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
) -> Kernel:
    """Runs every pass, or those before the one named. `after` sees the kernel after each; `timings`
    collects seconds by pass."""
    load_passes(target)
    begin = time.perf_counter()
    kernel = lower(p, schedule, target)
    steps: tuple[tuple[str, Pass], ...] = (("lower", lambda k, t: k), *STEPS)
    for name, run in steps:
        if name == before:
            break
        kernel = run(kernel, target)
        if timings is not None:
            timings[name] = time.perf_counter() - begin
        if after is not None:
            after(name, kernel)
        begin = time.perf_counter()
    return kernel


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
    return check(parse(kernel), settings, fix_sizes)


def choose_schedule(p: Pipeline, target: str, name: str | None) -> Schedule | None:
    """The named schedule, else the first for the target or one it falls back on (of those for a GPU
    the first with tensor cores, where there is one), else none."""
    if name is not None:
        for s in p.schedules:
            if s.name == name:
                return s
        have = [s.name for s in p.schedules]
        listed = ", ".join(f"`{n}`" for n in have) or "none"
        hint = did_you_mean(name, have) or f"the schedules of this file: {listed}"
        raise UsageError(Diagnostic(f"no schedule `{name}` in {p.source.name}", None, hint))
    for t in schedule_order(target):
        fitting = [s for s in p.schedules if t in s.targets]
        if fitting:
            return next(filter(_has_fragments, fitting), fitting[0])
    return None


def _has_fragments(s: Schedule) -> bool:
    """Whether the schedule keeps anything in the fragments of tensor cores."""
    kept = [d for line in s.lines for d in line.directives if d.name == "store_in"]
    return any(d.args[0] in FRAGMENTS for d in kept)
