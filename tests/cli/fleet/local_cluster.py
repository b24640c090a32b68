"""A scheduler of Dask and its workers, as processes of this machine that can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60.0  # seconds for all to be there on a busy machine


@dataclass
class Cluster:
    """`workers`: processes by their addresses."""

    address: str
    workers: dict[str, subprocess.Popen[bytes]]


@contextmanager
def local_cluster(folder: Path, count: int) -> Iterator[Cluster]:
    """With so many workers of a thread each; nobody starts one again that was killed."""
    from distributed import Client

    file = folder / "scheduler.json"
    environment = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "error", "HBC_CACHE": str(folder)}
    with ExitStack() as owned:

        def start(what: str, *options: str) -> subprocess.Popen[bytes]:
            command = (
                sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(file),
                "--host", "127.0.0.1", "--no-dashboard", *options,
            )  # fmt: skip
            log = owned.enter_context((folder / f"{what}.log").open("ab"))
            child = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
            owned.callback(child.wait)
            owned.callback(child.kill)
            return child

        start("scheduler", "--port", "0")
        children = [start("worker", "--nthreads", "1", "--no-nanny") for _ in range(count)]
        of = {child.pid: child for child in children}
        until = time.monotonic() + PATIENCE
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        with Client(address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)
            numbers = client.run(os.getpid)
        yield Cluster(address, {a: of[number] for a, number in numbers.items()})
