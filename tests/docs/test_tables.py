"""Tables of the documentation that are made of the rows of the product. Run as a program, this file writes
them anew.

A table stands between the lines `<!-- NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from hbc.cli.passes import PASSES

DOCS = Path(__file__).resolve().parents[2] / "docs"
END = "<!-- end -->\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines).replace("| --- ", "|---")


def passes() -> str:
    rows = ((f"`{p.name}`", p.when.says or "all", p.says) for p in PASSES)
    return table(("pass", "for", "what it does"), rows)


TABLES: Mapping[tuple[str, str], Callable[[], str]] = {("architecture.md", "passes"): passes}


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


def main() -> None:
    for (file, name), made in TABLES.items():
        head, _, tail = parts(file, name)
        (DOCS / file).write_text(head + made() + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
