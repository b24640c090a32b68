"""What is said of statements on the page: the instructions chosen for them, and what is allowed and slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hbc.cli.advice import Watch, advice
from hbc.cli.compiled import Chosen
from hbc.cli.instruction_set import instructions_of
from hbc.cli.passes import has_tensor_instructions
from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.program.by_size import apart
from hbc.ir.ground.record import record
from hbc.ir.lang.kernel import Kernel

if TYPE_CHECKING:
    from hbc.eqsat.choosing.report import Record


@record
class Note:
    """A sentence below a line of the source. `kind`: chosen, missed or warning."""

    line: int
    kind: str
    text: str


def notes_of(chosen: Chosen, after: Callable[[str, Kernel], None]) -> list[Note]:
    """Lowers the kernel once more; `after` sees it after each pass."""
    watch = Watch()

    def seen(name: str, kernel: Kernel) -> None:
        watch(name, kernel)
        after(name, kernel)

    p, schedule, target = chosen.pipeline, chosen.schedule, chosen.target
    done = lower_to_kernel(p, schedule, target, seen)
    notes = _chosen(chosen) if has_tensor_instructions(target) else []
    for d in advice(p, schedule, target, watch, done):
        if d.span is not None:
            hint = f" ({d.hint})" if d.hint else ""
            notes.append(Note(d.span.line, "warning", f"{d.message}{hint}"))
    return notes


def _chosen(chosen: Chosen) -> list[Note]:
    from hbc.eqsat.choosing.report import merged
    from hbc.eqsat.choosing.select import select

    p, schedule, target = chosen.pipeline, chosen.schedule, chosen.target
    notes: list[Note] = []
    for s in [schedule] if schedule is None else apart(schedule):
        records: list[Record] = []
        kernel = lower_to_kernel(p, s, target, before="select")
        select(kernel, instructions_of(target), records)
        of = (
            f"schedule {s.name}: "
            if s is not None and schedule is not None and schedule.choices
            else ""
        )
        notes += [replace(n, text=of + n.text) for n in _notes(merged(records))]
    return list(dict.fromkeys(notes))


def _notes(records: Sequence[Record]) -> list[Note]:
    notes = []
    for r in records:
        if r.span is None:
            continue
        if r.miss is not None:
            text = f"no instruction: {r.miss.condition}; to change that: {r.miss.edit}"
            notes.append(Note(r.span.line, "missed", text))
            continue
        rest = " for what is left of a loop" if r.part == "tail" else ""
        parts = f"{r.cost.compute:.3g} of the instructions, {r.cost.memory:.3g} of loads and stores"
        packing = f", {r.cost.conversion:.3g} of packing" if r.cost.conversion else ""
        text = (
            f"{r.count} x {r.instruction}{rest}: about {r.cost.total:.3g} cycles ({parts}{packing})"
        )
        notes.append(Note(r.span.line, "chosen", text))
    return notes
