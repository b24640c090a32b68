"""A program as directives rewrite it before there are loops."""

from __future__ import annotations

from hbc.frontend.automatic.text import Line
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.record import record


@record
class Rewritten:
    """The program, and the lines of a schedule that make it of the one of the file. `flat`: pixels of all
    rows are one loop."""

    pipeline: Pipeline
    lines: tuple[Line, ...] = ()
    flat: bool = False
