"""Marks tests `slow` by the table of costs, `gpu_shim` and `qemu` by what they import; leaves out by room;
puts the files that take longest first where several processes test."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from suite_costs import TABLE, by_function, longest_first, read, slow, spaced
from suite_rooms import concerned, rooms, uses, with_helpers

SHIM = "hbc.codegen.build.cuda_cpu"
EMULATOR = re.compile(r"\bqemu-\w")


@cache
def marks_of(file: Path) -> frozenset[str]:
    """Those that a test file and its helpers ask for, by what they import and name."""
    found = {"gpu_shim"} if SHIM in uses(file) else set()
    if any(EMULATOR.search(f.read_text(encoding="utf-8")) for f in with_helpers(file)):
        found.add("qemu")
    return frozenset(found)


@cache
def arm_targets() -> tuple[str, ...]:
    """What stands in the name of a case whose code an emulator may run."""
    from hbc.ir.lang.target import ARM, TARGETS

    return tuple(name for name, target in TARGETS.items() if target.machine == ARM)


class Marks:
    """The plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.files: set[Path] | None = None
        self.cases: int | None = config.getoption("--cases")
        if wanted := config.getoption("--room"):
            known = rooms()
            if wanted not in known:
                raise pytest.UsageError(
                    f"no room `{wanted}`; there are: {', '.join(sorted(known))}"
                )
            self.files = concerned(known[wanted])

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        left_out = self.files is not None and collection_path.name.startswith("test_")
        return True if left_out and collection_path not in (self.files or ()) else None

    # First: `-m` leaves out by marks.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        costs, functions = read(TABLE), by_function(items)
        for name, cases in functions.items():
            if name in costs:
                for item in slow(cases, costs[name]):
                    item.add_marker("slow")
        for item in items:
            marks = marks_of(item.path)
            fixtures = getattr(item, "fixturenames", ())
            emulated = any(name in item.nodeid for name in arm_targets()) or "neon" in item.name
            if "arm" in fixtures or emulated:
                marks |= {"qemu"}
            for mark in sorted(marks):
                item.add_marker(mark)
        if self.cases is not None:
            chosen = {i for cases in functions.values() for i in spaced(cases, self.cases)}
            items[:] = [item for item in items if item in chosen]
        if hasattr(self.config, "workerinput"):
            items[:] = longest_first(items, costs)
