"""The process of a worker that builds and measures for one job, in the order in which it is asked.

Usage: python -m hbc.cli.fleet.child. The first line on stdin is a bundle, each other a request; each is
answered by a line on stdout, the bundle too. It ends with its stdin, and when nothing was asked for long.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import IO

from hbc.cli.fleet.bundle import job_of
from hbc.cli.fleet.messages import Message, best_read, candidate_read, trials_said
from hbc.cli.measuring.builder import FOREVER, Builders
from hbc.cli.measuring.measured_on import this_machine
from hbc.cli.measuring.track import Here, here
from hbc.cli.show.frames import CALL_DEPTH
from hbc.ir.ground.diag import HbcError
from hbc.ir.host.scratch import scratch_folder

OBJECTS_BEFORE_COLLECTION = 1_000_000  # as in `main`
IDLE = 600.0  # seconds after which nobody seems to want it any more


def answered(track: Here, random: Random, asked: Message) -> Message:
    """What came of a request."""
    if asked["do"] == "elsewhere":
        failure = track.elsewhere(candidate_read(asked["candidates"][0]))
        return {"failure": failure and {"state": str(failure.state), "reason": failure.reason}}
    left = asked["seconds"]
    until = FOREVER if left is None else time.monotonic() + left
    candidates = [candidate_read(c) for c in asked["candidates"]]
    if asked["do"] == "beside":
        trials = track.beside(candidates, random, asked["rounds"], until)
    else:
        best = best_read(asked["best"])
        trials = track.race(candidates, best, random, asked["rounds"], until, asked["needed"])
    return {"trials": trials_said(trials)}


def main() -> None:
    sys.setrecursionlimit(CALL_DEPTH)
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    # As an exception, so that files are removed and processes are ended.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not answer
    asked = sys.stdin.buffer
    with scratch_folder() as folder:
        try:
            _serve(asked, replies, folder)
        except HbcError as failure:
            _reply(replies, {"refused": failure.diagnostics[0].message})


def _serve(asked: IO[bytes], replies: IO[str], folder: Path) -> None:
    job = job_of(json.loads(asked.readline()), folder, this_machine())
    with (
        Builders(job.pipeline.source, job.target, 1) as builders,
        here(job, builders.serving(job.settings, job.run.sizes)) as track,
    ):
        track.meter.prepare()
        _reply(replies, {})
        random = Random(0)
        while select.select([asked], [], [], IDLE)[0] and (line := asked.readline()):
            _reply(replies, answered(track, random, json.loads(line)))


def _reply(replies: IO[str], answer: Message) -> None:
    replies.write(json.dumps(answer) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
