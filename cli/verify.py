"""`hbc verify`: the IR after every pass and the native code, against the oracle."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.options import json_option, kernel_options, native_options, thread_count
from hbc.ir.diag import Diagnostic, HbcError, MismatchError

if TYPE_CHECKING:
    from hbc.cli.data import Array
    from hbc.cli.prepare import Chosen
    from hbc.cli.report import Json, Progress
    from hbc.cli.trials import Trial
    from hbc.ir.kernel import Kernel

INTERPRETED_WORK = 20_000  # operations: the interpreter takes about 10 us for each
NATIVE_WORK = 20_000_000
KEPT_MISTAKES = 3  # of each stage
PADDING = 5  # elements between rows, in every third native trial

Outputs = Mapping[str, "Array"]


@dataclass(slots=True)
class Stage:
    """What was found of one stage: a pass, or the native code."""

    name: str
    trials: int = 0
    worst: float = 0.0
    mistakes: list[str] = field(default_factory=list)

    def record(self, trial: Trial, compute: Callable[[], Outputs], expected: Expected) -> None:
        """Runs the stage on a trial and compares. Refusing the trial is a mistake too."""
        from hbc.cli.checking import check_outputs
        from hbc.ir.interp import InterpError

        self.trials += 1
        try:
            checked = check_outputs(compute(), expected())
        except (HbcError, InterpError) as failure:
            self._blame(trial, str(failure))
            return
        self.worst = max(self.worst, checked.max_error_over_bound)
        for text in checked.mistakes:
            self._blame(trial, text)

    def _blame(self, trial: Trial, text: str) -> None:
        if len(self.mistakes) < KEPT_MISTAKES:
            self.mistakes.append(f"{self.name}: at {trial}: {text}")


class Expected:
    """The oracle's answer to a trial, computed once and when it is needed."""

    def __init__(self, chosen: Chosen, trial: Trial) -> None:
        from hbc.cli.checking import references

        self._found = references(chosen.pipeline, trial.sizes, trial.inputs)

    def __call__(self):  # type: ignore[no-untyped-def]
        return self._found
