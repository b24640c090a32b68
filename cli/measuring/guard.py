"""Refuses candidates before a C compiler sees them: those that the checker or a pass refuses, whose sums of
products find no instruction though they want one, and that keep more in registers than there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.cli.instruction_set import instructions_of
from hbc.cli.measuring.taken import taken
from hbc.cli.passes import PASSES
from hbc.cli.pipeline import load_passes
from hbc.eqsat.choosing.report import Record
from hbc.eqsat.choosing.select import select
from hbc.frontend.checks.check import check
from hbc.frontend.lowering.lower import lower
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.passes.register_pressure import register_pressure

SELECT = "select"  # the pass whose refusals are looked at


def guarded(
    p: Pipeline,
    text: str,
    target: Target,
    settings: Mapping[str, str],
    selects: bool,
    strict: bool,
    sizes: Mapping[str, int] | None = None,
) -> Kernel:
    """The program lowered by a schedule that stands for itself; HbcError with the reason of a refusal.
    `selects`: it wants instructions; `strict`: for all of its sums, also the rests of loops. `sizes`: only
    what runs at these."""
    schedule = _read(p, text, settings)
    records: list[Record] = []
    kernel = lower(p, schedule, target)
    if sizes is not None:
        kernel = kernel.map_body(lambda body: taken(body, sizes))
    kernel = _passed(kernel, target, records)
    if selects:
        _refuse_unmapped(kernel, records if strict else ())
    spilled = register_pressure(kernel, target)
    if spilled:
        raise HbcError(spilled[0])
    return kernel


def _read(p: Pipeline, text: str, settings: Mapping[str, str]) -> Schedule:
    """The text read as if it stood at the end of the file, which may have one of its name: that of an earlier
    tuning."""
    _, name, body = text.split(maxsplit=2)
    taken = {s.name for s in p.schedules}
    while name in taken:
        name += "_"
    text = f"schedule {name} {body}"
    with_it = Source(p.source.name, f"{p.source.text.rstrip()}\n\n{text}")
    checked = check(parse(with_it), settings, False)
    return checked.schedules[-1]


def _passed(kernel: Kernel, target: Target, records: list[Record]) -> Kernel:
    """Through all passes. `records`: what the selection of instructions found."""
    load_passes(target)
    for step in PASSES:
        if not step.when.holds(kernel, target):
            continue
        if step.name == SELECT:
            kernel = select(kernel, instructions_of(target), records)
        else:
            kernel = step.run(kernel, target)
    return kernel


def _refuse_unmapped(kernel: Kernel, records: Sequence[Record]) -> None:
    """A statement that was to be an instruction and is none is slow without a word, also where it is only
    the rest of a loop."""
    if not kernel.instructions:
        raise error("no tensor instruction was found for it")
    mapped = {r.stage for r in records if r.instruction is not None}
    for r in records:
        if r.instruction is None and r.stage in mapped:
            raise error(
                f"{'the rest' if r.part == 'tail' else 'a part'} of `{r.stage}` maps to nothing"
            )
