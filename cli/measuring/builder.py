"""Processes that make libraries of candidates side by side, each guarded against what it meets."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from hbc.cli.measuring.job import Job
from hbc.cli.measuring.trial import Built, Candidate, State, Trial
from hbc.codegen.build.run_tool import end_group, signal_name
from hbc.ir.ground.diag import InternalError
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import scratch_folder

KILLED = 9
TIMEOUT = 60.0  # seconds for one candidate: what takes longer to compile is not worth it
START = 120.0  # seconds for a process to load hbc on a busy machine


class Builder(Protocol):
    """What makes libraries of candidates."""

    def build(self, candidates: Sequence[Candidate]) -> list[Built | Trial]:
        """For each its library, or why there is none."""


class Builders:
    """As many processes as wanted, used as a context manager. They load hbc while others do other things."""

    def __init__(self, job: Job, count: int) -> None:
        self._owned = contextlib.ExitStack()
        self.folder = self._owned.enter_context(scratch_folder())
        self._threads = self._owned.enter_context(ThreadPoolExecutor(count))
        self._job = job
        self._stopping = threading.Event()
        self._idle = [_Child(job, self.folder / str(n)) for n in range(count)]
        self._all = list(self._idle)

    def __enter__(self) -> Builders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        with held_signals():
            self._stopping.set()
            for child in self._all:
                child.end()
            self._owned.close()

    def build(self, candidates: Sequence[Candidate]) -> list[Built | Trial]:
        """In the order given, as many at a time as there are processes."""
        waiting = iter(list(enumerate(candidates)))
        found: dict[int, Built | Trial] = {}
        lock = threading.Lock()

        def work(child: _Child) -> None:
            while not self._stopping.is_set():
                with lock:
                    taken = next(waiting, None)
                if taken is None:
                    return
                found[taken[0]] = child.build(taken[1])

        for done in [self._threads.submit(work, child) for child in self._all]:
            done.result()
        return [found[n] for n in range(len(candidates))]


class _Child:
    """One process; started again after it died."""

    def __init__(self, job: Job, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._job, self._folder = job, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = folder / "stderr"
        self._start()

    def _start(self) -> None:
        command = (sys.executable, "-P", "-m", "hbc.cli.measuring.builder_child", str(self._folder))
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                process_group=None if sys.platform == "win32" else 0,
            )  # fmt: skip
        job = self._job
        self._send(
            {
                "name": job.pipeline.source.name, "text": job.pipeline.source.text,
                "settings": dict(job.settings), "target": job.target.name,
                "isa": [str(path.resolve()) for path in job.target.isa],
            }
        )  # fmt: skip
        self._ready = False

    def _send(self, said: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(said).encode() + b"\n")
            self._process.stdin.flush()

    def _receive(self, timeout: float) -> tuple[bytes, bool]:
        """A line, and whether it took too long."""
        process = self._process
        assert process is not None and process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            end_group(process, KILLED)

        timer = threading.Timer(timeout, give_up)
        timer.start()
        try:
            return process.stdout.readline(), late.is_set()
        finally:
            timer.cancel()

    def build(self, candidate: Candidate) -> Built | Trial:
        if self._process is None:
            self._start()
        if not self._ready:
            line, _ = self._receive(START)
            if not line:
                raise InternalError(f"a process that compiles did not start: {self._last_words()}")
            self._ready = True
        self._send(
            {
                "key": candidate.key, "text": candidate.text, "selects": candidate.selects,
                "strict": bool(candidate.point),
            }
        )  # fmt: skip
        line, late = self._receive(TIMEOUT)
        if not line:
            return Trial(candidate, State.REFUSED, reason=self._death(late))
        answer = json.loads(line)
        if "refused" in answer:
            return Trial(candidate, State.REFUSED, reason=answer["refused"])
        return Built(
            candidate, answer["library"], answer["function"], answer["parallel"],
            tuple(answer["instructions"]),
        )  # fmt: skip

    def _death(self, late: bool) -> str:
        process = self._process
        assert process is not None
        code = process.wait()
        said = self._last_words()
        self.end()
        if late:
            return f"it takes longer than {TIMEOUT:g} s to compile"
        if code < 0:
            return f"hbc was ended by {signal_name(-code)} when it compiled it"
        return f"hbc failed: {said}"

    def _last_words(self) -> str:
        lines = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"

    def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            end_group(process, KILLED)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        process.wait()


def libraries(built: Sequence[Built | Trial]) -> Iterator[Built]:
    """Those that were built."""
    return (b for b in built if isinstance(b, Built))
