"""What was found right of a program, and so is not looked at again while other parts of its file are
typed: proofs that reads lie inside, and schedules.

Programs are compared by what they say, not by where it stands. Of mistakes nothing is remembered: they
have places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from hbc.frontend.checks.check import Proofs
from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.program.reads import check_bounds
from hbc.frontend.program.scope import Scope
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import GPU, TARGETS

MOST_PROGRAMS = 32  # the kernels of a text as it is, and as it was some keystrokes ago
NOWHERE = Source("", "")
_Known = TypeVar("_Known")


class FoundRight:
    """Of the programs looked at last."""

    def __init__(self) -> None:
        self._proofs: dict[Pipeline, Proofs] = {}
        self._schedules: dict[Pipeline, set[Schedule]] = {}

    def bounds(self, p: Pipeline, scope: Scope) -> Proofs:
        """As `check_bounds`."""
        program = _program(p)
        known = self._proofs.get(program)
        if known is None:
            before = len(scope.mistakes)
            known = check_bounds(p, scope)
            if len(scope.mistakes) == before and not known[1]:  # Funcs have places
                _remember(self._proofs, program, known)
        return known

    def mistakes(self, p: Pipeline) -> Iterator[Diagnostic]:
        """Of its schedules: directives that do not fit the loops."""
        right = _remember(self._schedules, _program(p), set())
        for schedule in p.schedules:
            if schedule in right:
                continue
            gpu = any(TARGETS[t].machine == GPU for t in schedule.targets if t in TARGETS)
            try:
                apply_schedule(p, schedule, gpu)
            except HbcError as failure:
                yield from failure.diagnostics
            else:
                right.add(schedule)


def _program(p: Pipeline) -> Pipeline:
    """All that proofs and the loops of a schedule depend on."""
    return replace(p, source=NOWHERE, schedules=(), examples=(), imported=())


def _remember(found: dict[Pipeline, _Known], program: Pipeline, new: _Known) -> _Known:
    """What is known of the program, from now on the newest; `new` where nothing is."""
    known = found.pop(program, new)
    found[program] = known
    if len(found) > MOST_PROGRAMS:
        del found[next(iter(found))]
    return known
