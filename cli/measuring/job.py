"""What is tuned: a kernel for a target at sizes, its inputs, and what right outputs are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbc.cli.measuring.measured_on import Machine, digest
from hbc.cli.runs.work import Work
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.record import record
from hbc.ir.lang.target import Target

if TYPE_CHECKING:
    from hbc.cli.files.inputs import Run

FORMAT = 1  # of journals and of what is kept: raise it when what is measured changes


@record
class Job:
    """`settings`: what `--set` says; `run`: sizes and inputs; `work`: what a call must do at least;
    `machine`: that it is measured on."""

    pipeline: Pipeline
    target: Target
    settings: Mapping[str, str]
    run: Run
    work: Work
    threads: int
    machine: Machine

    @property
    def sizes(self) -> str:
        """As people read them."""
        return ", ".join(f"{name} = {value}" for name, value in self.run.sizes.items())

    @property
    def bytes(self) -> int:
        """Of all arrays."""
        from hbc.cli.files.sizes import extents

        arrays = (*self.pipeline.inputs, *self.pipeline.outputs)
        return sum(math.prod(extents(a, self.run.sizes)) * a.element.bytes for a in arrays)

    def facts(self) -> dict[str, object]:
        """What a measurement belongs to, versions apart."""
        return {
            "format": FORMAT, "algorithm": algorithm_digest(self.pipeline),
            "settings": dict(sorted(self.settings.items())), "sizes": dict(self.run.sizes),
            "target": self.target.name, "isa": [str(path) for path in self.target.isa],
            "cpu": self.machine.cpu, "features": self.machine.features, "threads": self.threads,
        }  # fmt: skip


def algorithm_digest(p: Pipeline) -> str:
    """Of what the program computes: its statements without schedules, examples, comments and layout, and
    what it imports."""
    said = [
        " ".join(s.span.source.text[s.span.start : s.span.end].split())
        for s in parse(p.source).statements
        if not isinstance(s, ast.Schedule | ast.Example)
    ]
    return digest([*said, *(one.text for one in p.imported)])
