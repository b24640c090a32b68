"""Which tests are slow, and which concern a room, is decided by what they cost and import."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import suite_marks
from suite_costs import HEAD, KEPT, LISTED, TABLE, longest_first, read, slow, updated, write
from suite_rooms import TESTS, above, concerned, rooms, uses


def test_slow_tests_exist() -> None:
    for row, seconds in read(TABLE).items():
        file, *names = row.split("::")
        assert names[-1] in _functions(TESTS.parent / file), f"{TABLE.name}: {row}"
        assert seconds >= LISTED


@cache
def _functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}


def test_what_was_not_measured_keeps_its_line(tmp_path: Path) -> None:
    table = tmp_path / "costs.tsv"
    assert updated(table, {"a": 2.0}) == {"a": 2.0}
    write(table, {"a": 200.0, "b": 3.0, "c": 4.0}, LISTED)
    write(table, updated(table, {"a": 0.1, "b": 5.0}), LISTED)
    assert read(table) == {"b": 5.0, "c": 4.0}


def test_only_slow_ones_are_written(tmp_path: Path) -> None:
    table = tmp_path / "costs.tsv"
    write(table, {"tests/b.py::b": 2.25, "tests/a.py::a": 100.0, "tests/a.py::c": 0.9}, LISTED)
    assert table.read_text() == HEAD + "tests/a.py::a\t100.0\ntests/b.py::b\t2.2\n"
    assert read(table) == {"tests/a.py::a": 100.0, "tests/b.py::b": 2.2}


@pytest.mark.parametrize(
    ("seconds", "count", "quick"), [(2.0, 8, 2), (10.0, 4, 0), (1.0, 1, 0), (1.5, 300, 100)]
)
def test_a_few_cases_of_a_slow_function_are_quick(seconds: float, count: int, quick: int) -> None:
    cases = [object() for _ in range(count)]
    left_out = slow(cases, seconds)  # type: ignore[arg-type]
    assert count - len(left_out) == quick
    assert quick * seconds / count <= KEPT
    assert [c for c in cases if c in left_out] == left_out


def test_files_that_take_longest_come_first() -> None:
    names = ["a.py::quick", "a.py::slow[1]", "a.py::slow[2]", "b.py::slower", "c.py::quick"]
    items: list[pytest.Item] = [SimpleNamespace(nodeid=name) for name in names]  # type: ignore[list-item]
    ordered = longest_first(items, {"a.py::slow": 3.0, "b.py::slower": 5.0})
    assert [item.nodeid for item in ordered] == [names[3], *names[:3], names[4]]


def test_modules_above_a_room() -> None:
    """By any way, and not beside: of the graph that `hbc` has, what the layers promise."""
    packages = {name.split(".")[1] for name in above(rooms()["eqsat/graph"], GRAPH)}
    assert packages == {"eqsat", "cli"}


GRAPH = {
    "hbc.cli.main": {"hbc.eqsat.choosing.select"},
    "hbc.eqsat.choosing.select": {"hbc.eqsat.graph.encode"},
    "hbc.codegen.text.lines": {"hbc.ir.lang.nodes"},
}


@pytest.mark.parametrize(
    ("room", "folders", "others"),
    [
        (
            "codegen/neon",
            {"codegen/neon", "codegen/c", "samples", "layering"},
            {"eqsat/graph", "frontend/text", "ir/algebra"},
        ),
        ("frontend/text", {"frontend/text", "cli/commands"}, set()),
        (
            "synth/search",
            {"synth/search", "layering"},
            {"ir/lang", "codegen/c", "codegen/cuda", "codegen/neon", "eqsat/graph"},
        ),
        (
            "ir/lang",
            {
                "ir/lang",
                "codegen/c",
                "codegen/cuda",
                "codegen/neon",
                "eqsat/graph",
                "codegen/moves",
                "frontend/text",
            },
            set(),
        ),
    ],
)
def test_files_that_concern_a_room(room: str, folders: set[str], others: set[str]) -> None:
    found = {file.parent.relative_to(TESTS).as_posix() for file in concerned(rooms()[room])}
    assert folders <= found
    assert not others & found


def test_helpers_count() -> None:
    """A file that reaches a compiler by a helper beside it alone uses it."""
    file = next(f for f in sorted((TESTS / "codegen/cuda").glob("test_*.py"))
                if "cuda_library import" in f.read_text() and "cuda_cpu" not in f.read_text())  # fmt: skip
    assert suite_marks.SHIM in uses(file)
    assert "gpu_shim" in suite_marks.marks_of(file)


def test_emulators_are_marked() -> None:
    assert "qemu" in suite_marks.marks_of(TESTS / "codegen/plan/test_probe.py")
    assert not suite_marks.marks_of(TESTS / "frontend/text/test_giants.py")
