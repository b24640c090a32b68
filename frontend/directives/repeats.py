"""What a schedule says twice of the same: the second would silently replace the first.

acc.store_in(shared).store_in(registers)   ->   error, with a note where the first is
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.directives.table import DIRECTIVES
from hbc.frontend.program.funcs import Directive, Schedule, Stage
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.ground.source import Span


def check_repeats(schedule: Schedule) -> Iterator[Diagnostic]:
    """Every directive that says something else, or the same once more, than one before it."""
    said: dict[tuple[str, int], tuple[Directive, Span | None]] = {}
    for number, line in enumerate(schedule.lines):
        special = 0  # what follows `specialize` speaks of a copy of the loops
        for d in line.directives:
            if d.name == "specialize":
                special = special + 1 if special else (number + 1) << 8
            row = DIRECTIVES.get(d.name)
            if row is None or not row.once:
                continue
            what = row.once.format(_written(line.stage), d.args[0] if d.args else "")
            first, at = said.setdefault((what, special), (d, d.span))
            if first is not d:
                yield Diagnostic(
                    f"`{d.name}` says {what}, which has been said before", d.span,
                    "leave one of the two out", () if at is None else (Note("here", at),),
                )  # fmt: skip


def _written(s: Stage) -> str:
    """A stage as in a schedule."""
    name = s.name if s.consumer is None else f"{s.name}.in({s.consumer})"
    if s.update is None:
        return name
    return f"{name}.update" if s.update == 0 else f"{name}.update({s.update})"
