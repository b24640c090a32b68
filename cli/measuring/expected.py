"""What the outputs must be: the oracle is asked once, its bounds fitted to what instructions round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbc.cli.instruction_set import instructions_of
from hbc.cli.measuring.job import Job
from hbc.cli.runs.instruction_error import fused_sums, with_instructions
from hbc.ir.lang.types import DType

if TYPE_CHECKING:
    from hbc.frontend.oracle.oracle import Reference


class Expected:
    """The references of a job by the instructions that compute the outputs."""

    def __init__(self, job: Job) -> None:
        self._job = job
        target = job.target
        known = instructions_of(target) if target.instruction_sets or target.isa else []
        self._instructions = {i.name: i for i in known}
        self._by_sums: dict[frozenset[DType], Mapping[str, Reference]] = {}
        self._found: dict[tuple[str, ...], Mapping[str, Reference]] = {}

    def prepare(self) -> None:
        """Asks the oracle for what code without instructions computes."""
        self.outputs(())

    def outputs(self, names: tuple[str, ...]) -> Mapping[str, Reference]:
        """For code with these instructions."""
        if names not in self._found:
            used = [self._instructions[n] for n in names]
            plain = self._evaluated(fused_sums(used))
            operations = self._job.work.total
            self._found[names] = with_instructions(plain, used, operations) if used else plain
        return self._found[names]

    def _evaluated(self, fused: frozenset[DType]) -> Mapping[str, Reference]:
        from hbc.frontend.oracle.oracle import evaluate

        if fused not in self._by_sums:
            job = self._job
            self._by_sums[fused] = evaluate(job.pipeline, job.run.sizes, job.run.inputs, fused)
        return self._by_sums[fused]
