"""Searches that are stopped: at any moment what is reported is right, and it is reported at once."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest
from sketch_solver import SKETCHES, read_text

from hbc.cli.files.read_sketch import read_sketch
from hbc.cli.sketches.alarm import alarm
from hbc.synth.prunings.watch import Stopped, Watch
from hbc.synth.results.solve import Outcome, solve
from hbc.synth.search.switches import Switches

MANY = """
    set any(a: [n]) = \\i. a[(p * i + q) % n] for p in n, q in n
    x: [13]
    a: [13] = ?any(x)
    b: [13] = ?any(a)
    c: [13] = ?any(b)
    goal c == x
"""
SEARCHED = 1.5  # seconds
PLAIN = Switches(classes=False, copies=False, crowds=False, compose=False)


@dataclass(slots=True)
class Bell(Watch):
    """Rings at the n-th check."""

    left: int = 0

    def check(self) -> None:
        self.left -= 1
        if self.left <= 0:
            raise Stopped("timeout")


def listed(outcome: Outcome) -> set[object]:
    """Every solution; each has been executed and is there once."""
    found = [solution.choice for solution in outcome.solutions()]
    assert len(set(found)) == len(found) == outcome.count()
    return set(found)


def test_stopped_at_every_check() -> None:
    sketch = read_text(MANY.replace("13", "5"))
    every = listed(solve(sketch, PLAIN, Watch()))
    sizes = []
    for checks in range(1, 200):
        outcome = solve(sketch, PLAIN, Bell(left=checks))
        if outcome.complete:
            break
        assert listed(outcome) <= every
        sizes.append(outcome.count())
    assert sizes == sorted(sizes), "more time never finds less"
    assert outcome.complete and outcome.count() == len(every)


@pytest.mark.parametrize("delay", [0.002 * 1.35**n for n in range(18)])
def test_stopped_at_any_moment(delay: float) -> None:
    """The alarm rings between any two instructions of Python."""
    sketch = read_text(MANY)
    try:
        with alarm(time.monotonic() + delay):
            outcome = solve(sketch, PLAIN, Watch())
    except Stopped:
        return  # before there were sets
    some = [solution.choice for solution in islice(outcome.solutions(), 30)]
    assert len(set(some)) == len(some) == min(30, outcome.count())


def test_it_rings_again_where_nobody_hears() -> None:
    """An exception is dropped in what the garbage collector calls, and in finalizers."""

    class Slow:
        def __del__(self) -> None:
            _wait(0.05)

    def slow(phase: str, info: dict[str, int]) -> None:
        _wait(0.05)

    for unheard in (gc.collect, Slow):
        gc.callbacks.append(slow)
        try:
            with pytest.raises(Stopped), alarm(time.monotonic() + 0.01):
                unheard()
                _wait(5)
        finally:
            gc.callbacks.remove(slow)


def _wait(seconds: float) -> None:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        pass


@pytest.mark.parametrize(
    ("name", "settings", "switches"),
    [
        ("rcr", {"s": "4"}, Switches(classes=False, copies=False, crowds=False)),
        ("crc", {"s": "9"}, Switches(classes=False, crowds=False, pairs=True)),
        ("conv1d", {"k": "11"}, Switches(classes=False, crowds=False, pairs=True)),
        ("ffm8", {}, Switches(classes=False, crowds=False, copies=False, joins=False)),
        ("hvx_gaussian", {}, Switches(classes=False, crowds=False, merge=False)),
    ],
)
def test_the_end_is_prompt(name: str, settings: dict[str, str], switches: Switches) -> None:
    """In processor time, which other jobs on the machine do not change, there is no second left."""
    sketch = read_sketch(SKETCHES / f"{name}.sf", settings)
    began, deadline = time.process_time(), time.monotonic() + SEARCHED
    watch = Watch(deadline, 200_000_000)
    with alarm(deadline):
        outcome = solve(sketch, switches, watch)
    assert outcome.stopped == "timeout"
    outcome.count()
    assert time.process_time() - began < SEARCHED + 1  # 0.05 more on a quiet machine


def test_memory_is_bounded_without_any_test() -> None:
    """The room, and what Python and NumPy take themselves."""
    command = [
        sys.executable, "-c",
        "import sys, time\n"
        "from pathlib import Path\n"
        "from hbc.cli.sketches.synth_report import peak_megabytes\n"
        "from hbc.cli.files.read_sketch import read_sketch\n"
        "from hbc.synth.results.solve import solve\n"
        "from hbc.synth.search.switches import Switches\n"
        "from hbc.synth.prunings.watch import Watch\n"
        "sketch = read_sketch(Path(sys.argv[1]), {'s': '4', 'wrap': 'outer'})\n"
        "plain = Switches(classes=False, copies=False, crowds=False)\n"
        "solve(sketch, plain, Watch(time.monotonic() + 8, 100_000_000))\n"
        "print(peak_megabytes())\n",
        str(SKETCHES / "rcr.sf"),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 300


def test_what_does_not_fit_is_not_even_made() -> None:
    """Beyond what the interpreter and NumPy take, half as much again as was asked at most."""
    command = [
        sys.executable, "-c",
        "import sys\n"
        "from hbc.cli.main import exit_code_of\n"
        "from hbc.cli.sketches.synth_report import peak_megabytes\n"
        "import hbc.synth.results.solve\n"
        "before = peak_megabytes()\n"
        "assert exit_code_of(sys.argv[1:]) == 1\n"
        "print(peak_megabytes() - before)\n",
        "synth", str(SKETCHES / "rcr.sf"), "--set", "s=64", "--memory", "50",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "its tables take 235 MB" in done.stderr
    assert float(done.stdout) < 75


def test_what_was_found_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "many.sf"
    file.write_text(MANY.replace("13", "61"), encoding="utf-8")
    command = [sys.executable, "-m", "hbc.cli.main", "synth", str(file), "--prune", "none"]
    done = subprocess.run([*command, "--timeout", "6"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "stopped by the timeout: there may be more solutions, and cheaper ones" in done.stderr
    assert done.stdout.startswith("# solution 1")
