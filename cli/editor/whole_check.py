"""Another hbc beside the server: what it says of a file as a whole, when every schedule is compiled."""

from __future__ import annotations

import asyncio
import json
import sys

from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.ground.source import Source, Span

LONGEST_CHECK = 60  # seconds


async def hbc(arguments: list[str], seconds: float) -> tuple[str, str]:
    """What another hbc prints, on stdout and on stderr. It ends with this one."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hbc.cli.main", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(child.communicate(), seconds)
    except TimeoutError:
        return "", f"no answer in {seconds:g} s"
    finally:
        if child.returncode is None:
            child.terminate()
    return out.decode(errors="replace"), err.decode(errors="replace")


async def whole_check(source: Source) -> list[Diagnostic]:
    """What `hbc check` says of the file on disk: mistakes that only show when schedules are compiled, and
    what is slow."""
    out, _ = await hbc(["check", "--json", source.name], LONGEST_CHECK)
    try:
        said = json.loads(out)
    except ValueError:
        return []
    return [_diagnostic(d, source) for d in (*said["mistakes"], *said["warnings"])]


def _diagnostic(said: dict[str, str | int | None], source: Source) -> Diagnostic:
    """Notes aside, which the message does not need."""
    span = None
    line, column, length = said["line"], said["column"], said["length"]
    if said["file"] == source.name and isinstance(line, int) and isinstance(column, int):
        lines = source.text.split("\n")
        start = sum(len(part) + 1 for part in lines[: line - 1]) + column - 1
        span = Span(source, start, start + (length if isinstance(length, int) else 1))
    hint = said["hint"]
    return Diagnostic(
        str(said["message"]), span, None if hint is None else str(hint),
        severity=Severity(str(said["severity"])),
    )  # fmt: skip
