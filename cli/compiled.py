"""What commands hand to each other: the kernel that is meant, its C, and what runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.codegen.c.source import CSource
from hbc.frontend.program.by_size import PLAIN_LOOPS, taken
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.ground.record import record
from hbc.ir.lang.target import GPU, Target

if TYPE_CHECKING:
    from hbc.cli.automatic import Automatic
    from hbc.codegen.cuda.source import CudaSource
    from hbc.ir.lang.kernel import Kernel

NO_SCHEDULE = PLAIN_LOOPS  # --schedule none


@record
class Chosen:
    """A checked file with the target and the schedule that the command line asks for. `fallback`:
    whether the code also holds plain loops, for processors that lack the instructions in it. `made`:
    the schedule, where hbc made it."""

    pipeline: Pipeline
    target: Target
    schedule: Schedule | None
    fallback: bool = False
    made: Automatic | None = None

    @property
    def schedule_name(self) -> str:
        return NO_SCHEDULE if self.schedule is None else self.schedule.name

    def at(self, sizes: Mapping[str, int]) -> Chosen:
        """The same with the schedule that is taken at these sizes, to be named."""
        if self.schedule is None or not self.schedule.choices:
            return self
        return replace(self, schedule=taken(self.schedule, sizes))

    @property
    def on_gpu(self) -> bool:
        return self.target.machine == GPU

    @property
    def title(self) -> str:
        """What is compiled, for which target and by which schedule."""
        by = f"schedule {self.schedule_name}" if self.schedule else "no schedule"
        other = self.written_for
        by += f", which is written for {other}" if other else ""
        return f"{self.pipeline.name} for {self.target.name}, {by}"

    @property
    def written_for(self) -> str:
        """The targets that the schedule names, where it serves another one; else empty."""
        s = self.schedule
        return "" if s is None or self.target.name in s.targets else ", ".join(s.targets)


@record
class Compiled:
    """A kernel as C or CUDA. `seconds` is what hbc took, from reading the file to the text. `lowered`: its
    IR; None where the text was kept from another time."""

    chosen: Chosen
    source: CSource | CudaSource
    seconds: float
    lowered: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The IR that was printed, lowered again where only the text was kept."""
        if self.lowered is not None:
            return self.lowered
        from hbc.cli.pipeline import lower_to_kernel

        return lower_to_kernel(self.chosen.pipeline, self.chosen.schedule, self.chosen.target)


@record
class Runner:
    """`emulator`: the library of the AMX emulator, where it executes AMX. `functions`: the features that
    C functions stand for. `on_cpu`: CUDA code runs on the processor, thread by thread. `gpu`: the name
    of the GPU that it runs on instead."""

    emulator: Path | None = None
    functions: tuple[str, ...] = ()
    on_cpu: bool = False
    gpu: str | None = None


def packs_of(compiled: Compiled) -> tuple[str, ...]:
    """The constant inputs that the code has entry points for."""
    return compiled.source.packs if isinstance(compiled.source, CSource) else ()
