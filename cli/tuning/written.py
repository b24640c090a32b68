"""A tuned schedule as text of the file, with a comment on where it comes from; and that comment read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hbc.cli.files.replace_file import write_text
from hbc.cli.machine import cpu_name
from hbc.cli.show.report import notice
from hbc.cli.write_schedule import with_schedule
from hbc.frontend.program.by_size import where_text
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.text.blocks import schedule_blocks
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.printable import printable_line

_MADE_FOR = re.compile(r"# Tuned on (.+?) on \d{4}-\d\d-\d\d")
WIDTH = 96


def tuned_name(target: str, row: int | None = None) -> str:
    """The name of the schedule that a tuning writes; of one row of a table of sizes."""
    return f"tuned_{target}" + ("" if row is None else f"_{row}")


def commented(text: str, cpu: str, date: str, lines: list[str]) -> str:
    """The schedule with the machine, the date and what was measured inside."""
    head, _, body = text.partition("{\n")
    machine = printable_line(cpu).replace("#", "")
    said = [f"# Tuned on {machine} on {date}", *(f"# {line}" for line in lines)]
    return f"{head}{{\n" + "".join(f"    {line[:WIDTH]}\n" for line in said) + body


def other_machine(p: Pipeline, schedule: Schedule | None) -> str | None:
    """The machine that a schedule was tuned on, where that is another one than this."""
    if schedule is None or _MADE_FOR.search(p.source.text) is None:
        return None
    found = _MADE_FOR.search(schedule_blocks(p.source).get(schedule.name, ""))
    if found is None or found[1] == printable_line(cpu_name()).replace("#", ""):
        return None
    return found[1]


def name_machine(p: Pipeline, schedule: Schedule | None) -> None:
    """Says on stderr where a schedule was tuned on another machine."""
    for s in () if schedule is None else schedule.each:
        machine = other_machine(p, s)
        if machine is not None:
            hint = f"`hbc tune {p.source.name} --write` makes one for this {cpu_name()}"
            notice(f"note: schedule {s.name} was tuned on {machine}; {hint}")


def name_earlier(p: Pipeline, target: str, written: Sequence[str]) -> None:
    """Says on stderr which schedules of the file are asked before those that were written."""
    for s in p.schedules:
        if target in s.targets and s.condition is not None and s.name not in written:
            notice(f"note: schedule {s.name} is taken before it, where {where_text(s)}")


def check_file(path: Path) -> None:
    """HbcError where the file could not be written: said before hours are spent."""
    folder = path.resolve().parent
    if not path.is_file():
        raise error(f"--write: `{path}` is not a file")
    if not os.access(path, os.W_OK):
        raise _cannot(path, "it may not be written")
    if not os.access(folder, os.W_OK):
        raise _cannot(path, f"nothing may be written in `{folder}`")


def _cannot(path: Path, why: str) -> HbcError:
    return error(
        f"--write: cannot write `{path}`: {why}", hint="leave --write out, and take the text"
    )


def write_tuned(
    path: Path, p: Pipeline, schedules: list[tuple[str, str]], first_for: str | None
) -> None:
    """Puts the schedules (name and text) into the file, before others for the target `first_for`. HbcError
    when the file says something else by now than what was tuned."""
    from hbc.cli.files.read_source import read_source
    from hbc.frontend.text.kernels import alone, kernels
    from hbc.ir.ground.source import Source

    if read_source(path) != p.source.shown:
        raise error(
            f"`{path}` changed while it was tuned: nothing was written",
            hint="the schedule is above; `hbc tune` again takes what it knows from the cache",
        )
    source = p.source
    for name, text in schedules:
        whole = Source(source.name, with_schedule(source, name, text, first_for))
        source = alone(whole, p.name) if kernels(whole) else whole
    write_text(path, source.shown)
