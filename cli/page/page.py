"""`hbc compile --emit html`: the kernel at every stage, on one page.

On the left the algorithm and its schedule, with what was chosen for each statement; on the right, one at
a time, the C, its assembly, the loops with what they should cost, the IR after each pass, and the roof.
Pointing at a line marks what came of it and what it came from, wherever that stands.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup

from hbc.cli.compiled import Compiled
from hbc.cli.page.assembly import listing
from hbc.cli.page.colour import coloured, styles
from hbc.cli.page.links import Line, core, made_by, of_code, schedule_lines
from hbc.cli.page.loops import Loop, costs_of, count_text, listed
from hbc.cli.page.notes import Note, notes_of
from hbc.cli.page.roof import Picture, roof
from hbc.cli.page.source import parts_of
from hbc.codegen.c.source import CSource
from hbc.frontend.directives.loop_tree import loop_tree
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.record import record
from hbc.ir.lang.show import show_kernel
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from jinja2 import Environment

    from hbc.ir.lang.kernel import Kernel

LONGEST = 1000  # lines of a text that are shown
Shown = list[tuple[Line, Markup]]


@record
class Pane:
    """A text in colours. `before`, `after`: how many lines of it are folded away at its ends."""

    name: str
    lines: tuple[tuple[Line, Markup], ...]
    before: int = 0
    after: int = 0
    left_out: int = 0


@record
class Row:
    """A loop of the table: how deep, its text, the line of the schedule, and its numbers as text."""

    depth: int
    text: str
    schedule: int | None
    runs: str = ""
    arithmetic: str = ""
    loads: str = ""
    stores: str = ""
    bytes: str = ""
    cycles: str = ""
    bound: str = ""


def page(compiled: Compiled) -> str:
    """The HTML document."""
    chosen = compiled.chosen
    p, code = chosen.pipeline, compiled.source.text
    directives = schedule_lines(chosen.schedule)
    sizes = example_sizes(p)
    c_lines = code.rstrip("\n").split("\n")
    linked = of_code(c_lines, directives)
    begin, end = core(c_lines, linked)
    on_gpu = chosen.target.machine == GPU
    c = Pane(
        "CUDA" if on_gpu else "C",
        tuple(zip(linked, coloured(code, "cuda" if on_gpu else "c"), strict=True)),
        begin, len(c_lines) - end,
    )  # fmt: skip
    passes, notes = _passes(compiled)
    template = _environment().get_template("page.html")
    return template.render(
        title=chosen.title,
        source=parts_of(chosen, set(directives.values())),
        notes=_by_line(notes),
        c=c,
        assembly=_assembly(compiled, range(begin + 1, end + 1)),
        tree=coloured(loop_tree(p, chosen.schedule, on_gpu), "hb"),
        rows=[] if on_gpu else [_row(one, made_by(one.note, directives))
                                for one in listed(costs_of(compiled.kernel, chosen.target, sizes))],
        sizes=", ".join(f"{name} = {n}" for name, n in sizes.items()),
        passes=passes,
        roof=None if on_gpu else roof(p, sizes, os.cpu_count() or 1),
        picture=Picture,
        colours=styles(),
    )  # fmt: skip


def example_sizes(p: Pipeline) -> Mapping[str, int]:
    """Of the first example; none where it does not say all of them."""
    from hbc.cli.files.inputs import choose_example
    from hbc.cli.files.sizes import infer_sizes

    try:
        return infer_sizes(p, {}, (), dict(choose_example(p, None).sizes))
    except HbcError:
        return {}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return resources.files("hbc.cli.page").joinpath(name).read_text(encoding="utf-8")

    return Environment(
        loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def _passes(compiled: Compiled) -> tuple[list[Pane], list[Note]]:
    """The IR after each pass that changed it, and what is said of statements."""
    texts: list[tuple[str, str]] = []

    def after(name: str, kernel: Kernel) -> None:
        text = show_kernel(kernel)
        if not texts or texts[-1][1] != text:
            texts.append((name, text))

    notes = notes_of(compiled.chosen, after)
    return [_plain(name, text, "hb") for name, text in texts], notes


def _plain(name: str, text: str, language: str) -> Pane:
    lines = text.rstrip("\n").split("\n")
    kept = lines[:LONGEST]
    shown = coloured("\n".join(kept), language)
    numbered = ((Line(n), line) for n, line in enumerate(shown, 1))
    return Pane(name, tuple(numbered), left_out=len(lines) - len(kept))


def _assembly(compiled: Compiled, computing: range) -> Pane | str:
    """Or why there is none."""
    if not isinstance(compiled.source, CSource):
        return "Of CUDA there is none here: `hbc compile --emit ptx` writes what nvcc makes of it."
    try:
        found = listing(compiled.source, compiled.chosen.target, computing)
    except HbcError as e:
        return f"There is none: {e.diagnostics[0].message}."
    kept = found[: 4 * LONGEST]
    linked = (Line(n, code=at) for n, (_, at) in enumerate(kept, 1))
    shown = zip(linked, coloured("\n".join(line for line, _ in kept), "asm"), strict=True)
    return Pane("Assembly", tuple(shown), left_out=len(found) - len(kept))


def _by_line(notes: Sequence[Note]) -> dict[int, list[Note]]:
    found: dict[int, list[Note]] = {}
    for note in notes:
        found.setdefault(note.line, []).append(note)
    return found


def _row(loop: Loop, schedule: int | None) -> Row:
    text, c = loop.text, loop.cost
    if c is None:
        return Row(loop.depth, text, schedule, "" if loop.runs is None else count_text(loop.runs))
    return Row(
        loop.depth, text, schedule, count_text(loop.runs or 0.0), count_text(c.arithmetic),
        count_text(c.loads), count_text(c.stores), count_text(c.bytes), count_text(c.cycles),
        c.bound if c.cycles else "",
    )  # fmt: skip
