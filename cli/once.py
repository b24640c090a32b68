"""What kernels of one schedule for several targets have in common is made once: `check` compiles for all."""

from __future__ import annotations

from dataclasses import field

from hbc.cli.passes import OnKernel, Pass
from hbc.frontend.directives.memories import refuse_memories
from hbc.frontend.lowering.lower import lower
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.record import record
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, Target

Kind = tuple[bool, bool]
"""All of a target that loops are made by: whether it is a GPU, and whether it has vectors."""


@record
class Once:
    """For one schedule of one pipeline: its loops by the kind of target, and by the name of a pass and the
    identity of a kernel, which is held, what the pass makes of it. What was refused is not kept."""

    loops: dict[Kind, Kernel] = field(default_factory=dict)
    passed: dict[tuple[str, int], tuple[Kernel, Kernel]] = field(default_factory=dict)

    def lowered(self, p: Pipeline, schedule: Schedule | None, target: Target) -> Kernel:
        """The loops of the schedule. HbcError where it cannot be applied for this target."""
        kind = (target.machine == GPU, target.vector_bits > 0)
        if kind not in self.loops:
            self.loops[kind] = lower(p, schedule, target)
        refuse_memories(schedule, target)
        return self.loops[kind]

    def after(self, step: Pass, kernel: Kernel, target: Target) -> Kernel:
        """The kernel after a pass."""
        if not isinstance(step.run, OnKernel):
            return step.run(kernel, target)
        if step.run.refuse is not None:
            step.run.refuse(kernel, target)
        key = (step.name, id(kernel))
        if key not in self.passed:
            self.passed[key] = (kernel, step.run.run(kernel))
        return self.passed[key][1]
