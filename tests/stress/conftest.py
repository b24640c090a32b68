"""What the attacks on hbc's environment share: a kernel, a command line in a process of its own, counts.

`make stress` repeats them for HBC_STRESS_ROUNDS rounds and prints how each ended; the suite makes one.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROUNDS = int(os.environ.get("HBC_STRESS_ROUNDS", "1"))
COUNTS: Counter[tuple[str, str]] = Counter()
KERNEL = """kernel doubled
size N
input A: f32[N]
output B: f32[N]
B[i] = A[i] * 2
example { N = 16; A = random(1) }
"""


@dataclass(frozen=True)
class Place:
    """A kernel, and folders of its own for the output, temporary files, the cache and bug reports."""

    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "k.hb"

    @property
    def environment(self) -> dict[str, str]:
        names = {"TMPDIR": "tmp", "HBC_CACHE": "cache", "XDG_STATE_HOME": "state"}
        own = {name: str(self.folder / place) for name, place in names.items()}
        return os.environ | own | {"OMP_NUM_THREADS": "1"}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "hbc.cli.main", *arguments]

    def hbc(
        self, *arguments: str, before: Callable[[], None] | None = None, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, errors="replace", timeout=300,
            env=self.environment | environment, check=False, preexec_fn=before, cwd=self.folder,
        )  # fmt: skip

    def left(self) -> list[str]:
        """What lies in the folders that are to be empty again."""
        return [str(p) for name in ("tmp", "out") for p in (self.folder / name).rglob("*")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("tmp", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "k.hb").write_text(KERNEL)
    return Place(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the counts where they are asked for."""
    if ROUNDS > 1:
        terminalreporter.section(f"attacks in {ROUNDS} rounds, and how hbc ended")
        for (attack, end), count in sorted(COUNTS.items()):
            terminalreporter.line(f"{count:6} x {attack}: {end}")


def ended(attack: str, done: "subprocess.CompletedProcess[str]", *allowed: int) -> None:
    """Counts how it ended, which is one of the exit codes, in few words."""
    COUNTS[attack, f"exit {done.returncode}"] += 1
    said = f"{attack}: exit {done.returncode}\n{done.stderr}"
    assert done.returncode in allowed, said
    assert "Traceback" not in done.stderr, said
    assert "internal error" not in done.stderr, said
    if done.returncode in (1, 4):
        lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        assert lines[0].startswith("error: "), said
        assert len(lines) <= 2, said  # a line, and a hint
