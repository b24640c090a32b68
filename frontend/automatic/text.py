"""Lines of a schedule as text: chains of directives, none longer than a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hbc.ir.ground.record import record

LONGEST = 96


@record
class Line:
    """A stage and its directives, each as text: `split(i, io, ii, 16)`."""

    stage: str
    directives: tuple[str, ...]


def schedule_text(name: str, target: str, lines: Iterable[Line]) -> str:
    """The block."""
    body = [text for line in lines if line.directives for text in _broken(line)]
    inner = "\n".join(f"    {text}" for text in body)
    return f"schedule {name} for {target} {{\n{inner}\n}}\n"


def _broken(line: Line) -> list[str]:
    """The chain in as many lines as it takes; each begins with the stage, but for copies of loops,
    whose directives belong to one chain."""
    chain: list[str] = []
    text = line.stage
    special = any(d.startswith("specialize(") for d in line.directives)
    for d in line.directives:
        if len(text) + len(d) + 5 > LONGEST and text.strip() not in ("", line.stage):
            chain.append(text)
            text = "    " if special else line.stage
        text += f".{d}"
    chain.append(text)
    return chain


def call(name: str, args: Sequence[str | int], tail: str = "") -> str:
    """A directive."""
    written = [str(a) for a in args]
    if tail:
        written.append(f"tail = {tail}")
    return f"{name}({', '.join(written)})"
