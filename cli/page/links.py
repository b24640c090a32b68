"""Which lines of the schedule made which lines of the C, and which of these became which instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hbc.frontend.program.funcs import Schedule
from hbc.ir.ground.record import record

Directives = Mapping[tuple[str, str, str], int]
"""Lines of the source by schedule, where it is one of several, Func and directive, as comments of the C
spell them."""
NAMED = re.compile(r"(?:(\w+): )?([A-Za-z_]\w*)(?:\.update(?:\(\d+\))?|\.in\(\w+\))?\.(\w+\(.*)")


@record
class Line:
    """A line of a text: its number, the line of the schedule that it stands for or came from, and the
    line of the C that it was made of."""

    number: int
    schedule: int | None = None
    code: int | None = None


def schedule_lines(schedule: Schedule | None) -> Directives:
    lines: dict[tuple[str, str, str], int] = {}
    for s in () if schedule is None else schedule.each:
        name = s.name if schedule is not s else ""
        for line in s.lines:
            for d in line.directives:
                if d.span is not None:
                    text = " ".join(d.span.text.split()).removeprefix(".")
                    lines.setdefault((name, line.stage.name, text), d.span.line)
    return lines


def made_by(note: str, lines: Directives) -> int | None:
    """The line of the schedule that a note such as `acc.update.unroll(k, 2)` names."""
    named = NAMED.fullmatch(note)
    return None if named is None else lines.get((named[1] or "", named[2], named[3]))


def of_code(code: Sequence[str], lines: Directives) -> list[Line]:
    """The lines of C: comments that name a directive, and the statement below them."""
    linked: list[Line] = []
    above: int | None = None
    for n, text in enumerate(code, 1):
        comment = text.lstrip()
        own = made_by(comment.removeprefix("// "), lines) if comment.startswith("// ") else None
        is_loop = comment.startswith(("for (", "#pragma", "const int64_t"))
        linked.append(Line(n, own or (above if is_loop else None), n))
        above = own or (above if is_loop and not comment.startswith("for (") else None)
    return linked


def core(code: Sequence[str], linked: Sequence[Line]) -> tuple[int, int]:
    """The lines of the C, from one up to before another, that compute: those around them make memory, check
    arguments and name errors. Everything, where it cannot be told."""
    tops = [n for n, text in enumerate(code) if not text and n and not code[n - 1].startswith(" ")]
    computing = [
        n
        for n, (text, line) in enumerate(zip(code, linked, strict=True))
        if line.schedule is not None
        or "_compute(" in text[:60].split("=")[0]
        or "__global__" in text
    ]
    if not computing:
        return 0, len(code)
    begin = max((n + 1 for n in tops if n <= computing[0]), default=0)
    end = min((n for n in tops if n >= computing[-1]), default=len(code))
    return begin, end
