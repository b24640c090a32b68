"""Tables of the documentation that are made of the rows of the product. Run as a program, this file writes
them anew.

A table stands between the lines `<!-- NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from hbc.cli.passes import PASSES
from hbc.frontend.directives.table import (
    DIRECTIVES,
    OnFunc,
    OnLoops,
    OnPipeline,
    OnPlace,
    OnProgram,
    OnStep,
    Row,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
END = "<!-- end -->\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines).replace("| --- ", "|---")


def passes() -> str:
    rows = ((f"`{p.name}`", p.when.says or "all", p.says) for p in PASSES)
    return table(("pass", "for", "what it does"), rows)


def directives() -> str:
    rows = ((_written(r), _subject(r), _does(r)) for r in DIRECTIVES.values())
    return table(("directive", "for", "what it does"), rows)


def _written(r: Row) -> str:
    forms = ", ".join(f"`{form}`" for form in r.written.split(" or "))
    return f"[{forms}]({'' if r.page == 'schedules.md' else r.page}#{anchor(r.section)})"


def _subject(r: Row) -> str:
    match r.on:
        case OnLoops() | OnStep() | OnPlace():
            what = "a step"
        case OnPipeline():
            what = "an update"
        case OnProgram(whole=whole):
            what = "a Func, an output" if whole else "an output"
        case OnFunc(outputs=outputs):
            what = "a Func, an output" if outputs else "a Func"
    return f"{what}, on GPUs" if r.gpu else what


def _does(r: Row) -> str:
    """The first sentences of the function that does it."""
    text = (r.on.run.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split())


def anchor(heading: str) -> str:
    """How GitHub names the place of a heading: lower case, no punctuation, dashes for spaces."""
    kept = (c for c in heading.lower() if c.isalnum() or c in "-_ ")
    return "".join(kept).replace(" ", "-")


TABLES: Mapping[tuple[str, str], Callable[[], str]] = {
    ("architecture.md", "passes"): passes,
    ("schedules.md", "directives"): directives,
}


def parts(file: str, name: str) -> tuple[str, str, str]:
    """A page up to the table, the table, and the page from its end."""
    head, begin, rest = (DOCS / file).read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    shown, end, tail = rest.partition(END)
    assert begin and end, f"docs/{file} has no `<!-- {name} -->` and `<!-- end -->`"
    return head + begin, shown, end + tail


@pytest.mark.parametrize(("file", "name"), TABLES)
def test_tables_are_those_of_the_rows(file: str, name: str) -> None:
    again = "write it anew: python tests/docs/test_tables.py"
    assert parts(file, name)[1] == TABLES[file, name](), again


@pytest.mark.parametrize("name", DIRECTIVES)
def test_directives_are_documented_where_their_row_says(name: str) -> None:
    row = DIRECTIVES[name]
    page = (DOCS / row.page).read_text(encoding="utf-8")
    sections = re.split(r"^#+ (.*)$", page, flags=re.MULTILINE)
    said = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert row.section in said
    assert f"{name}(" in row.section + said[row.section]
    assert row.on.run.__doc__


def main() -> None:
    for (file, name), made in TABLES.items():
        head, _, tail = parts(file, name)
        (DOCS / file).write_text(head + made() + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
