"""Which test files concern a room: those that use a module of it, or one that imports it by any way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import room_map
from room_map import Room, imports_of, modules, room_of

TESTS = Path(__file__).resolve().parents[1]

graph = cache(room_map.graph)


def rooms() -> dict[str, Room]:
    """Every room by its name, as `codegen/neon`."""
    return {str(room): room for room in map(room_of, modules().values())}


def above(room: Room, edges: Mapping[str, set[str]]) -> set[str]:
    """The modules of a room and all that import them, by any way."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, targets in edges.items():
        for target in targets:
            users[target].add(name)
    waiting = [name for name, file in modules().items() if room_of(file) == room]
    found = set(waiting)
    while waiting:
        new = users[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def concerned(room: Room) -> set[Path]:
    """The test files to run. One that imports nothing of hbc reads files or starts commands: it always is."""
    wanted = above(room, graph())
    return {f for f in TESTS.rglob("test_*.py") if not (used := uses(f)) or used & wanted}


def uses(file: Path) -> set[str]:
    """The modules of hbc that a test file imports, and the helpers beside it, and theirs."""
    return {module for helper in with_helpers(file) for module in _imported(helper)[0]}


def with_helpers(file: Path) -> set[Path]:
    """A test file, the conftest.py of its folders, and the helpers that they import, by any way."""
    folders = [f for f in file.parents if f.is_relative_to(TESTS) and f != TESTS]
    waiting = [file, *(c for f in folders if (c := f / "conftest.py").is_file())]
    found = set(waiting)
    while waiting:
        new = _imported(waiting.pop())[1] - found
        found |= new
        waiting += new
    return found


@cache
def _imported(file: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """Modules of hbc, and helpers of tests: their names are their own."""
    known, helpers = modules(), _helpers()
    names = [name for _, name in imports_of(file)]
    found = {name if name in known else name.rpartition(".")[0] for name in names}
    parts = {part for name in names if not name.startswith("hbc.") or ".tests." in name
             for part in name.split(".")}  # fmt: skip
    return frozenset(found & known.keys()), frozenset(
        helpers[p] for p in parts if p in helpers and helpers[p] != file
    )


@cache
def _helpers() -> dict[str, Path]:
    return {f.stem: f for f in TESTS.rglob("*.py")
            if not f.name.startswith("test_") and f.name != "conftest.py"}  # fmt: skip
