"""The workers of a Dask scheduler as a place to measure: connected, asked what they are, left again."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from hbc.cli.fleet import worker
from hbc.cli.fleet.bundle import bundle_of
from hbc.cli.fleet.crew import GONE, POLL, Crew
from hbc.cli.fleet.told import Told, most_common, told_by
from hbc.cli.fleet.track import FleetTrack
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import Machine
from hbc.cli.show.report import notice
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.ground.record import record

CONNECTING = 10.0  # seconds for a scheduler to answer


@record
class Fleet:
    """Workers that can measure, all of the same `machine`."""

    crew: Crew

    @property
    def machine(self) -> Machine:
        return self.crew.machine

    @contextmanager
    def track(self, job: Job, example: str | None) -> Iterator[FleetTrack]:
        """Where the candidates of a job race."""
        key = uuid4().hex
        try:
            yield FleetTrack(self.crew, key, bundle_of(job, example))
        finally:
            self.crew.tell(worker.finish, key)


@contextmanager
def fleet_at(address: str) -> Iterator[Fleet]:
    """The fleet of the scheduler at an address. ToolError where Dask is not installed, nobody answers or
    none of the workers can measure."""
    client = _connected(address)
    try:
        told = _all_told(client, address)
        machine = most_common(told)
        _warn(client.nthreads(), [a for a, t in told.items() if t.machine == machine])
        yield Fleet(Crew(client, machine, told))
    finally:
        client.close(timeout=CONNECTING)


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as missing:
        hint = "pip install 'hbc[fleet]'"
        raise ToolError(
            Diagnostic("--workers needs the package distributed", hint=hint)
        ) from missing
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)  # we say ourselves what happened
    try:
        return Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as failure:
        hint = f"`dask scheduler` starts one, `dask worker {address} --nthreads 1` a worker"
        reason = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
        raise ToolError(
            Diagnostic(f"cannot reach the scheduler `{address}`: {reason}", hint=hint)
        ) from failure


def _all_told(client: Any, address: str) -> Mapping[str, Told]:
    """What all workers say of themselves, when there is one."""
    until = time.monotonic() + GONE
    while time.monotonic() < until:
        if told := told_by(client, list(client.nthreads())):
            return told
        time.sleep(POLL)
    hint = f"`dask worker {address} --nthreads 1` starts one, on the machine to measure on"
    raise ToolError(Diagnostic(f"the scheduler `{address}` has no workers", hint=hint))


def _warn(threads: Mapping[str, int], able: list[str]) -> None:
    """Of what disturbs measurements."""
    for address in able:
        if threads.get(address, 1) > 1:
            notice(
                f"note: the worker {address} has {threads[address]} threads, so that others' tasks may run"
                " beside a measurement: start it with --nthreads 1"
            )
    hosts = Counter(address.rpartition(":")[0] for address in able)
    for host, count in hosts.items():
        if count > 1:
            notice(
                f"note: {count} workers are on {host.rpartition('/')[2]}, and measure beside each other"
            )
