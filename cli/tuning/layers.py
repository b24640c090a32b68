"""A table of sizes: a tuning for each row. Columns are named like sizes and params; others only describe."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from hbc.cli.show.report import notice
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import record
from hbc.ir.host.file_bytes import file_bytes

MOST_BYTES = 1 << 24
MOST_ROWS = 10_000


@record
class Row:
    """A row of the table: what it sets, and its number in the file."""

    settings: dict[str, str]
    line: int

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.settings.items())


def conditions(rows: Sequence[Row | None], sizes: Sequence[str]) -> list[str]:
    """For each row the sizes that its schedule is for, as a condition; empty where it sets none, or where
    other rows set the same ones and differ in params, which no condition may speak of."""
    tests = []
    for row in rows:
        own = {} if row is None else row.settings
        tests.append(" and ".join(f"{name} == {own[name]}" for name in sizes if name in own))
    return ["" if tests.count(test) > 1 else test for test in tests]


def rows_of(path: Path, p: Pipeline) -> list[Row]:
    """The rows. HbcError for what is no such table."""
    try:
        text = file_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as failure:
        raise error(f"cannot read `{path}`: {failure.strerror}") from failure
    except UnicodeDecodeError as failure:
        raise error(f"`{path}` is no table: it is not UTF-8") from failure
    reader = csv.reader(text.splitlines())
    head = [name.strip() for name in next(reader, [])]
    known = _settable(p)
    used = [name for name in head if name in known]
    if not used:
        listed = ", ".join(f"`{name}`" for name in sorted(known)) or "none"
        raise error(
            f"`{path}`: no column is named like a size or param of the kernel",
            hint=f"they are {listed}",
        )
    if len(set(used)) < len(used):
        raise error(f"`{path}`: two columns have the same name")
    others = [name for name in head if name not in known]
    if others:
        notice(
            f"note: {path}: the columns {', '.join(others)} are not of the kernel, and left aside"
        )
    return _rows(path, reader, head, known)


def _rows(path: Path, reader: object, head: list[str], known: set[str]) -> list[Row]:
    found: dict[str, Row] = {}
    assert hasattr(reader, "__iter__") and hasattr(reader, "line_num")
    for cells in reader:
        line = reader.line_num
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(head):
            raise _wrong(path, line, f"{counted(len(cells), 'cell')}, and the head has {len(head)}")
        row = Row(
            {name: cell.strip() for name, cell in zip(head, cells, strict=True) if name in known},
            line,
        )
        for name, cell in row.settings.items():
            if not cell:
                raise _wrong(path, line, f"`{name}` has no value")
        found.setdefault(str(row), row)
        if len(found) > MOST_ROWS:
            raise _wrong(path, line, f"more than {MOST_ROWS} rows")
    if not found:
        raise error(f"`{path}` has no rows")
    return list(found.values())


def _wrong(path: Path, line: int, what: str) -> HbcError:
    return error(f"{path}:{line}: {what}")


def _settable(p: Pipeline) -> set[str]:
    """The names of sizes and of params, which a checked program no longer has."""
    params = {s.name.text for s in parse(p.source).statements if isinstance(s, ast.Param)}
    return params | {s.name for s in p.sizes}
