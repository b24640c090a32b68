"""What is said of the name under the cursor, as Markdown."""

from __future__ import annotations

from hbc.cli.editor.names import GLOBAL, Occurrence
from hbc.cli.editor.reading import Reading
from hbc.cli.show.words import described, word_at
from hbc.frontend.directives.loop_tree import loop_tree
from hbc.frontend.program.declared import declared_type
from hbc.frontend.program.funcs import Func, Image, Pipeline, Schedule
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.show import show


def hover(reading: Reading, offset: int) -> str | None:
    """Types, extents and loops of what the file declares; the documentation of hbc's own words."""
    name = reading.at(offset)
    pipeline = reading.pipeline_at(offset)
    if name is not None and pipeline is not None:
        said = _of_name(name, pipeline, _schedule_at(reading, pipeline, offset))
        if said is not None:
            return said
    if name is not None:
        declared = next((o for o in reading.same(name) if o.declares), None)
        return None if declared is None else _code(_line(declared))
    return described(word_at(reading.source.text, offset))


def _of_name(name: Occurrence, p: Pipeline, schedule: Schedule | None) -> str | None:
    owner, text = name.symbol[0], name.symbol[-1]
    if owner != GLOBAL:
        return f"`{text}`: {_belongs(owner)}"
    for what, arrays in (("input", p.inputs), ("output", p.outputs)):
        for a in arrays:
            if a.name == text:
                said = _code(f"{what} {_array(a)}")
                return said + (_loops(p, schedule, text) if what == "output" else "")
    for size in p.sizes:
        if size.name == text:
            return _code(f"size {text}")
    for f in p.funcs:
        if any(part.name == text for part in f.parts):
            return _code(_func(f)) + _loops(p, schedule, text)
        for u in f.updates:
            for r in u.reduce:
                if r.name == text:
                    return _code(
                        f"reduce {text} in {show(r.start)} .. {show(r.start)} + {show(r.extent)}"
                    )
    return None


def _belongs(owner: str) -> str:
    kind, _, rest = owner.partition(" ")
    match kind:
        case "Func":
            return f"an index variable of the Func `{rest}`"
        case "loop":
            schedule, _, func = rest.partition(" ")
            return f"a loop of `{func}` that the schedule `{schedule}` makes"
        case "def":
            return f"a parameter of the function `{rest}`"
        case "table":
            return f"an index of the table `{rest}`"
        case "let":
            return "a value named by `let`"
        case "for":
            return "the index of a family"
    return "a reduction variable of this expression"


def _array(a: Image) -> str:
    return f"{a.name}: {declared_type(a)}"


def _func(f: Func) -> str:
    kind = "table" if f.table_shape is not None else "Func"
    updates = len(f.updates)
    more = "" if not updates else ", an update" if updates == 1 else f", {updates} updates"
    place = f"[{', '.join(f.variables)}]"
    arrays = ", ".join(f"{part.name}: {part.element}{place}" for part in f.parts)
    return f"{kind} ({arrays}){more}" if f.others else f"{kind} {arrays}{more}"


def _schedule_at(reading: Reading, p: Pipeline, offset: int) -> Schedule | None:
    """That around the cursor, else the first."""
    around = {s.name.text for s in reading.schedules if s.span.start <= offset <= s.span.end}
    inside = (s for s in p.schedules if s.name in around)
    return next(inside, p.schedules[0] if p.schedules else None)


def _loops(p: Pipeline, schedule: Schedule | None, name: str) -> str:
    """The part of the loop nest in which a Func is computed: its line and what is below it."""
    if schedule is None:
        return ""
    try:
        lines = loop_tree(p, schedule).splitlines()
    except HbcError:
        return ""
    starts = [i for i, line in enumerate(lines) if _names(line, name)]
    if not starts:
        inlined = lines[1:2] and lines[1].startswith("inlined:") and name in lines[1]
        return f"\n\nComputed where it is used, by schedule `{schedule.name}`." if inlined else ""
    begin = starts[0]
    depth = _depth(lines[begin])
    end = next((i for i in range(begin + 1, len(lines)) if _depth(lines[i]) <= depth), len(lines))
    shown = [line[depth:] for line in lines[begin:end]]
    return f"\n\nBy schedule `{schedule.name}`:\n" + _code("\n".join(shown))


def _names(line: str, name: str) -> bool:
    """Whether the line says where the Func is computed, which may have several arrays."""
    word, _, rest = line.strip().partition(" ")
    names = rest.partition(" (")[0].partition(" in ")[0]
    return word in ("compute", "output", "whole") and name in names.replace(",", " ").split()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line(o: Occurrence) -> str:
    return o.span.source.line(o.span.line).strip()


def _code(text: str) -> str:
    return f"```hb\n{text}\n```"
