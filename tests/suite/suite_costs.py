"""What tests cost, in seconds of processor time: measured, kept in costs.tsv, and from there the mark `slow`.

Processor time, children's included, because it hardly depends on what else the machine does. The table
has one line for each test function whose cases together take longer than `LISTED`; what is not in it is
quick. Of a slow function a few cases, evenly spaced, stay quick: as many as take `KEPT`. A quick test that
turns out slow is named at the end of a run; `make costs` measures all again. `--record-costs` of some files,
with all their cases, replaces the lines of those.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("costs.tsv")
HEAD = "# Seconds of processor time of all cases of a test function: see suite_costs.py.\n"
LISTED = 1.0
"""Seconds of all cases together from which on a test function is slow."""
KEPT = 0.5
"""Seconds of its cases that stay quick nevertheless."""
QUICK = 0.02
"""Seconds of a case that is not in the table, roughly."""
NOTED = 4 * LISTED
"""What is quick by the table and takes longer than this is named: machines differ, and the first test
that needs a library pays for its import."""


def function_of(nodeid: str) -> str:
    """`tests/a/test_b.py::test_c` of one of its cases."""
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def read(table: Path) -> dict[str, float]:
    rows = (
        line.split("\t")
        for line in table.read_text(encoding="utf-8").splitlines()
        if line[0] != "#"
    )
    return {name: float(seconds) for name, seconds in rows}


def write(table: Path, costs: dict[str, float], least: float) -> None:
    rows = (f"{name}\t{costs[name]:.1f}\n" for name in sorted(costs) if costs[name] >= least)
    table.write_text(HEAD + "".join(rows), encoding="utf-8")


def updated(table: Path, costs: dict[str, float]) -> dict[str, float]:
    """What the table says, but for the functions that were measured."""
    return {**(read(table) if table.exists() else {}), **costs}


def by_function(items: list[pytest.Item]) -> dict[str, list[pytest.Item]]:
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[function_of(item.nodeid)].append(item)
    return found


def spaced(cases: list[pytest.Item], most: int) -> list[pytest.Item]:
    """At most so many of them, evenly spaced."""
    most = min(most, len(cases))
    return [cases[(2 * n + 1) * len(cases) // (2 * most)] for n in range(most)]


def slow(cases: list[pytest.Item], seconds: float) -> list[pytest.Item]:
    """The cases that are left out, of a function whose cases together take so many seconds."""
    kept = spaced(cases, int(KEPT * len(cases) / seconds))
    return [case for case in cases if case not in kept]


def longest_first(items: list[pytest.Item], costs: dict[str, float]) -> list[pytest.Item]:
    """By files: what several processes take one after the other ends for all of them at about one time."""
    files: dict[str, float] = defaultdict(float)
    for name, cases in by_function(items).items():
        files[file_of(name)] += costs.get(name, QUICK * len(cases))
    return sorted(items, key=lambda item: -files[file_of(item.nodeid)])


class Costs:
    """The plugin: measures in the process that tests, adds up in the one that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.spent: dict[str, list[float]] = defaultdict(list)
        self.begin = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self.begin = sum(os.times()[:4])
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "teardown":
            item.user_properties.append(("cpu", sum(os.times()[:4]) - self.begin))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for key, seconds in report.user_properties:
            if key == "cpu" and report.when == "teardown":
                self.spent[function_of(report.nodeid)].append(float(str(seconds)))

    def pytest_sessionfinish(self) -> None:
        if (file := self.config.getoption("--record-costs")) and not hasattr(
            self.config, "workerinput"
        ):
            write(file, updated(file, self.totals()), LISTED)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        listed = read(TABLE)
        slow = {n: s for n, s in self.totals().items() if s > NOTED and n not in listed}
        if slow:
            terminalreporter.section("slow, and not in tests/suite/costs.tsv")
            for name in sorted(slow, key=lambda n: -slow[n]):
                terminalreporter.line(f"{slow[name]:6.1f} s  {name}")

    def totals(self) -> dict[str, float]:
        return {name: sum(spent) for name, spent in self.spent.items()}
