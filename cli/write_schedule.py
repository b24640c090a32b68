"""`--write`: the schedule that hbc made becomes text of the file, to read and to edit."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from hbc.cli.automatic import schedule_name
from hbc.cli.compiled import Chosen
from hbc.cli.files.replace_file import write_text
from hbc.cli.show.report import notice
from hbc.frontend.text import ast
from hbc.frontend.text.fmt import INDENT
from hbc.frontend.text.kernels import kernels
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.source import Source


def write_schedule(path: Path, chosen: Chosen) -> str:
    """In place of an earlier one of the same name, else before the examples; its name."""
    if chosen.made is None:
        hint = "say `--schedule auto` to have one made"
        what = f"there is nothing to write: schedule `{chosen.schedule_name}` was not made by hbc"
        raise UsageError(Diagnostic(what, hint=hint))
    name = schedule_name(chosen.pipeline, chosen.target)
    text = with_schedule(chosen.pipeline.source, name, chosen.made.text)
    write_text(path, text)
    notice(f"wrote schedule {name} into {path}")
    return name


def with_schedule(source: Source, name: str, block: str, first_for: str | None = None) -> str:
    """The text of the file with the block in it; before other schedules for the target `first_for`, so that
    it is taken of itself. Of one kernel of several the block goes into its braces."""
    text, end = source.shown, len(source.shown)
    statements = parse(source).statements
    if source.whole:
        own = next(s.name.text for s in statements if isinstance(s, ast.Kernel))
        whole = kernels(Source(source.name, source.whole))
        end = next(k.span.end for k in whole if k.name.text == own) - 1
        block = indent(block, INDENT)
    for s in statements:
        if isinstance(s, ast.Schedule) and s.name.text == name:
            return text[: s.span.start] + block.strip() + text[s.span.end :]
    for s in statements:
        if isinstance(s, ast.Example) or (first_for is not None and _serves(s, first_for)):
            start = _with_comments(text, text.rfind("\n", 0, s.span.start) + 1)
            above = "" if text[:start].endswith(("\n\n", "{\n")) or not start else "\n"
            return f"{text[:start]}{above}{block}\n{text[start:]}"
    return f"{text[:end].rstrip()}\n\n{block}{text[end:]}"


def _serves(s: ast.Statement, target: str) -> bool:
    """Whether it is a schedule for the target."""
    return isinstance(s, ast.Schedule) and target in [t.text for t in s.targets]


def _with_comments(text: str, start: int) -> int:
    """Where the comments above a line begin."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
