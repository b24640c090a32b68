"""What a worker of Dask does for a tuning: it hands requests to a process per job, and ends that.

Whatever happens to code that is measured happens in that process or its children. Arguments and results are
texts and what JSON can say.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import fields
from typing import Any

from hbc.cli.measuring.measured_on import Machine, this_machine
from hbc.cli.own.installed import hbc_digest
from hbc.cli.show.crash import version
from hbc.codegen.build.run_tool import end_group
from hbc.ir.ground.diag import HbcError

TERMINATED, KILLED = 15, 9
PATIENCE = 2.0  # seconds for a process to remove its files
MOST_JOBS = 4  # whose processes are kept

_jobs: OrderedDict[str, _Process] = OrderedDict()  # by their keys, that asked last at the end
_among_jobs = threading.Lock()
_measuring = threading.Lock()  # one task at a time, however many threads the worker has


def facts() -> dict[str, Any]:
    """The version of hbc here, and the machine; or why nothing can be measured."""
    told: dict[str, Any] = {"version": version(), "digest": hbc_digest()}
    try:
        machine = this_machine()
    except HbcError as failure:
        return {**told, "refused": failure.diagnostics[0].message}
    return {**told, "machine": {f.name: getattr(machine, f.name) for f in fields(Machine)}}


def asked(key: str, bundle: dict[str, Any] | None, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of the job's process (`child`): `unknown` where it was never told of the job, and no
    bundle comes with the request; `died` where the process did."""
    with _measuring:
        with _among_jobs:
            if key not in _jobs:
                if bundle is None:
                    return {"unknown": True}
                _jobs[key] = _Process(bundle)
            _jobs.move_to_end(key)
            old = [_jobs.pop(k) for k in list(_jobs)[:-MOST_JOBS]]
            process = _jobs[key]
        for one in old:
            one.end()
        return process.ask(request)


def abandon(key: str) -> None:
    """What is being done for the job is not needed any more."""
    with _among_jobs:
        process = _jobs.get(key)
    if process is not None:
        process.end()


def finish(key: str) -> None:
    """Nothing more will be asked of the job."""
    with _among_jobs:
        process = _jobs.pop(key, None)
    if process is not None:
        process.end()


class _Process:
    """Started when it is needed, and again when it ended."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self._bundle = bundle
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                (sys.executable, "-P", "-m", "hbc.cli.fleet.child"),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                process_group=None if sys.platform == "win32" else 0,
            )  # fmt: skip
            ready = self._exchange(self._process, self._bundle)
            if ready != {}:
                return ready
        return self._exchange(self._process, request)

    @staticmethod
    def _exchange(process: subprocess.Popen[bytes], said: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(said).encode() + b"\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            return {"died": f"its process ended with {process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        end_group(process, TERMINATED)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            end_group(process, KILLED)
            process.wait()
