"""Automatic schedules: candidates are tried in turn, and the first that compiles well is taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.cli.asked_machine import asked_costs
from hbc.cli.instruction_set import instruction_set, instructions_of
from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.show.arch_option import asked_archs
from hbc.codegen.build.gpu import usable_there
from hbc.codegen.build.processor import can_run
from hbc.frontend.automatic.candidates import Candidate, candidates, rate_of, why_idle
from hbc.frontend.automatic_gpu.candidates import gpu_candidates
from hbc.frontend.costs.machine import Machine, machine_of
from hbc.frontend.costs.machine_costs import MachineCosts, with_costs
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.regions.promises import promises_among
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS, Target, scheduled_for
from hbc.ir.passes.register_pressure import register_pressure

AUTO = "auto"  # --schedule auto


@record
class Automatic:
    """A schedule that hbc made: its text, what it makes of the program, and why those before it were
    refused. `idle`: why the target's tensor instructions have nothing to do, where that is known; `by`: whose
    costs were gone by, where they were measured."""

    schedule: Schedule
    text: str
    kernel: Kernel
    about: str
    seconds: float
    refused: tuple[str, ...] = ()
    idle: str = ""
    by: str = ""


def automatic(
    p: Pipeline, target: Target, settings: Mapping[str, str], fix_sizes: bool, archs: str | None = None
) -> Automatic | None:  # fmt: skip
    """The first candidate that nothing refuses; None where all are (plain loops remain). `archs`: of GPUs, as
    --arch lists them."""
    start = time.perf_counter()
    refused: list[str] = []
    instructions = instructions_of(target) if target.instruction_sets or target.isa else []
    if target.machine == GPU:
        instructions = usable_there(instructions, asked_archs() if archs is None else archs)
    name = schedule_name(p, target)
    trial = name
    while trial in [s.name for s in p.schedules]:
        trial += "_"  # the one that is there stays while another is tried
    costs = None if target.machine == GPU else asked_costs()
    by = "" if costs is None else f" by what {costs.processor} costs"
    for candidate in _candidates(
        p, target, settings, trial, with_costs(instructions, costs), costs
    ):
        try:
            schedule, kernel = _tried(p, candidate, target, settings, fix_sizes)
        except HbcError as failure:
            refused.append(failure.diagnostics[0].message)
            continue
        promises = promises_among(kernel.checks)
        if promises:  # a schedule of the user's may, one that nobody wrote is for all sizes
            refused.append(promises[0])
            continue
        if candidate.selects and not kernel.instructions:
            refused.append("no tensor instruction was found for it")
            continue
        spilled = register_pressure(kernel, target)
        if spilled:
            refused.append(spilled[0].message)
            continue
        spent = time.perf_counter() - start
        text = candidate.text.replace(f"schedule {trial} ", f"schedule {name} ", 1)
        idle = "" if kernel.instructions else why_idle(p, settings, instructions)
        return Automatic(schedule, text, kernel, candidate.about, spent, tuple(refused), idle, by)
    return None


def best_for(
    p: Pipeline, default: Target, settings: Mapping[str, str], runs: Callable[[Target], bool] = can_run
) -> Target:  # fmt: skip
    """The target whose instructions do the most of the kernel's products at a time, of those that this
    machine `runs`; the default for a kernel that none of them does."""
    best, most, costs = default, (0.0, 0), asked_costs()
    for target in TARGETS.values():
        if target.machine == default.machine and target.instruction_sets and runs(target):
            known = with_costs(instructions_of(target), costs)
            rate = rate_of(p, settings, known, machine_with(target, costs)), target.vector_bits
            if rate[0] > 0 and rate > most:
                best, most = target, rate
    return best


def _candidates(
    p: Pipeline, target: Target, settings: Mapping[str, str], name: str,
    instructions: Sequence[Instruction], costs: MachineCosts | None,
) -> Iterator[Candidate]:  # fmt: skip
    if target.machine == GPU:
        return gpu_candidates(p, target, settings, name, instructions)
    return candidates(p, target, settings, name, instructions, machine_with(target, costs))


def machine_with(target: Target, costs: MachineCosts | None) -> Machine:
    """The machine that a target stands for, with costs that were measured."""
    known = [] if costs is None else with_costs(instruction_set().instructions, costs)
    return machine_of(target, costs, known)


def schedule_name(p: Pipeline, target: Target) -> str:
    """The name under which the schedule may stand in a file."""
    return f"{AUTO}_{scheduled_for(target)}"


def _tried(
    p: Pipeline, candidate: Candidate, target: Target, settings: Mapping[str, str], fix_sizes: bool
) -> tuple[Schedule, Kernel]:
    """The text read as if it stood at the end of the file, and lowered."""
    from hbc.frontend.checks.check import check
    from hbc.frontend.text.parse import parse

    with_it = Source(p.source.name, f"{p.source.text.rstrip()}\n\n{candidate.text}")
    checked = check(parse(with_it), settings, fix_sizes)
    schedule = replace(checked.schedules[-1], name=AUTO)
    return schedule, lower_to_kernel(p, schedule, target)
