"""The journal of a tuning: a line of JSON for each candidate, appended when its result is there.

A line says what it belongs to (`job`, `made`), so that several tunings may write into one file, also at
once; those of another kernel, machine or version are left alone. A line that was cut off is passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import digest
from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.host.file_bytes import NoFile, check_regular

MOST_BYTES = 1 << 28  # of a journal


class Journal:
    """An open journal. HbcError where it cannot be read or written."""

    def __init__(self, path: Path, job: Job) -> None:
        self._path = path
        self._job, self._made = digest(job.facts()), job.machine.made
        self._cpu = job.machine.cpu
        self.known: dict[str, Trial] = {}
        self.damaged, self.outdated = 0, 0
        self._read()
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as failure:
            raise _refused(path, failure) from failure
        self._begin_line()

    def _read(self) -> None:
        try:
            check_regular(self._path)
            text = self._path.read_bytes()[:MOST_BYTES].decode("utf-8", "replace")
        except FileNotFoundError:
            return
        except (OSError, NoFile) as failure:
            raise _refused(self._path, failure) from failure
        for line in text.splitlines():
            if not line.strip():
                continue
            found = trial_of(line)
            if found is None:
                self.damaged += 1
            elif found[0] == self._job and found[1] != self._made:
                self.outdated += 1
            elif found[0] == self._job and found[2].state is not State.LOST:
                self.known[found[2].candidate.key] = found[2]

    def _begin_line(self) -> None:
        """Behind a line that was cut off, as by a machine that stopped."""
        data = self._path.read_bytes() if self.damaged else b"\n"
        if not data.endswith(b"\n"):
            os.write(self._file, b"\n")

    def note(self, trial: Trial) -> None:
        """One write for one line: others may append at the same time."""
        held = {"job": self._job, "made": self._made, "cpu": self._cpu, **said(trial)}
        line = json.dumps(held) + "\n"
        try:
            os.write(self._file, line.encode())
        except OSError as failure:
            raise _refused(self._path, failure) from failure

    def close(self) -> None:
        os.close(self._file)

    def notes(self) -> Iterable[str]:
        """What is to be said of what was read."""
        if self.damaged:
            yield f"note: {self._path}: {_lines(self.damaged)} could not be read, and passed over"
        if self.outdated:
            others = f"{_lines(self.outdated)} of another version of hbc or of the C compiler"
            yield f"note: {self._path}: {others} left aside"
        if self.known:
            yield f"note: {self._path}: {len(self.known)} candidates are known from it"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _refused(path: Path, failure: OSError) -> HbcError:
    return error(f"cannot use the journal `{path}`: {failure.strerror or failure}")


def said(trial: Trial) -> dict[str, Any]:
    """A trial as JSON."""
    c = trial.candidate
    return {
        "key": c.key, "state": str(trial.state), "seconds": trial.seconds, "reason": trial.reason,
        "point": dict(c.point), "about": c.about, "cycles": c.cycles, "selects": c.selects,
        "schedule": c.text, **({"worker": trial.worker} if trial.worker else {}),
    }  # fmt: skip


def trial_of(line: str) -> tuple[str, str, Trial] | None:
    """What a line says, with what it belongs to; None for what is none."""
    try:
        held = json.loads(line)
        c = Candidate(
            {str(k): v for k, v in held["point"].items()}, str(held["schedule"]), str(held["about"]),
            None if held["cycles"] is None else float(held["cycles"]), bool(held["selects"]),
        )  # fmt: skip
        seconds = None if held["seconds"] is None else float(held["seconds"])
        state = State(held["state"])
        whole = c.key == held["key"] and (state is State.MEASURED) == (seconds is not None)
        if not whole or (seconds is not None and not seconds > 0):
            return None
        trial = Trial(
            c, state, seconds, str(held["reason"]), kept=True, worker=str(held.get("worker", ""))
        )
        return str(held["job"]), str(held["made"]), trial
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
