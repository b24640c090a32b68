"""Reads `{ name value ... }` blocks of instruction descriptions against a table of what may stand there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from hbc.frontend.isa.ast import Property
from hbc.frontend.text import ast
from hbc.ir.ground.diag import Diagnostic, Note, did_you_mean
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Span

Value = Any
"""An int, a float, a string, or a dictionary for a block."""


@record
class Entry:
    """What a property takes. `kind` is one of KINDS; a `name` may be limited to `choices`; a block has
    `entries`, or any names with strings when there are none. `default` None: it must be written."""

    kind: str
    default: Value | None = None
    choices: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)


KINDS: dict[str, Callable[[object], bool]] = {
    "a whole number": lambda v: isinstance(v, ast.Number) and isinstance(v.value, int),
    "a number": lambda v: isinstance(v, ast.Number),
    "a name": lambda v: isinstance(v, ast.Ident),
    "a string": lambda v: isinstance(v, ast.Text),
    "a block `{ ... }`": lambda v: isinstance(v, tuple),
}
WHOLE, NUMBER, NAME, STRING, BLOCK = KINDS


@mutable
class Reports:
    """The mistakes found so far."""

    found: list[Diagnostic] = field(default_factory=list)

    def report(
        self, message: str, span: Span | None, hint: str | None = None, *notes: Note
    ) -> None:
        self.found.append(Diagnostic(message, span, hint, notes))


def read_properties(
    written: tuple[Property, ...], table: Mapping[str, Entry], span: Span, reports: Reports
) -> dict[str, Value]:
    """The values by name, defaults filled in. What is wrong is reported and has a default value."""
    values: dict[str, Value] = {}
    for p in written:
        name = p.name.text
        entry = table.get(name)
        if entry is None:
            known = f"known are {', '.join(f'`{n}`' for n in table)}"
            hint = did_you_mean(name, table) or known
            reports.report(f"there is no property `{name}` here", p.name.span, hint)
        elif name in values:
            reports.report(f"`{name}` is given twice", p.span)
        else:
            values[name] = read_value(p, entry, reports)
    for name, entry in table.items():
        if name not in values and entry.default is None:
            choices = " or ".join(f"`{name} {c}`" for c in entry.choices)
            hint = f"write {choices or f'`{name}` and {entry.kind}'}"
            reports.report(f"`{name}` is missing", span, hint)
    return {name: values.get(name, missing(entry)) for name, entry in table.items()}


def read_value(p: Property, entry: Entry, reports: Reports) -> Value:
    """The value of one property."""
    if not KINDS[entry.kind](p.value):
        reports.report(f"`{p.name.text}` takes {entry.kind}", p.span)
        return missing(entry)
    match p.value:
        case ast.Number(value=value) if entry.kind == WHOLE and value < 0:
            reports.report(f"`{p.name.text}` cannot be negative", p.span)
            return missing(entry)
        case ast.Ident(text=text) as name:
            if entry.choices and text not in entry.choices:
                listed = " or ".join(f"`{c}`" for c in entry.choices)
                hint = did_you_mean(text, entry.choices) or f"write {listed}"
                reports.report(f"`{p.name.text}` cannot be `{text}`", name.span, hint)
                return missing(entry)
            return text
        case ast.Number(value=value) | ast.Text(value=value):
            return value
        case block:
            if entry.entries:
                return read_properties(block, entry.entries, p.span, reports)
            free = {inner.name.text: Entry(STRING) for inner in block}
            return read_properties(block, free, p.span, reports)


def missing(entry: Entry) -> Value:
    """What stands for a value that was not given, or given wrong."""
    if entry.default is not None:
        return entry.default
    if entry.kind == BLOCK:
        return {name: missing(inner) for name, inner in entry.entries.items()}
    return entry.choices[0] if entry.choices else "" if entry.kind in (NAME, STRING) else 1
