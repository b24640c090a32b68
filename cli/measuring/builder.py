"""Processes that make libraries of candidates side by side, each guarded against what it meets."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol

from hbc.cli.measuring.trial import Built, Candidate, State, Trial
from hbc.codegen.build.run_tool import end_group, signal_name
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.target import Target

KILLED = 9
TIMEOUT = 60.0  # seconds for one candidate: what takes longer to compile is not worth it
FOREVER = math.inf
START = 120.0  # seconds for a process to load hbc on a busy machine


class Builder(Protocol):
    """What makes libraries of candidates."""

    def build(
        self, candidates: Sequence[Candidate], until: float = FOREVER, least: int = 0, whole: bool = False
    ) -> Iterator[Built | Trial]:  # fmt: skip
        """Of each its library, or why there is none, when it is there, while others are compiled. What is
        not done by `until`, as `time.monotonic` has it, is left out, but for the `least` first. `whole`: for
        all sizes, else for those of the job alone (`taken`)."""

    def abandon(self) -> None:
        """What is being compiled is not needed any more."""


class Builders:
    """As many processes as wanted, used as a context manager. They load hbc while others do other things."""

    def __init__(self, source: Source, target: Target, count: int) -> None:
        self._owned = contextlib.ExitStack()
        self.folder = self._owned.enter_context(scratch_folder())
        self._threads = self._owned.enter_context(ThreadPoolExecutor(count))
        self._all = [_Child(source, target, self.folder / str(n)) for n in range(count)]
        self._batch: _Batch | None = None

    def __enter__(self) -> Builders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        with held_signals():
            self.abandon()
            for child in self._all:
                child.end()
            self._owned.close()

    def serving(self, settings: Mapping[str, str], sizes: Mapping[str, int]) -> Serving:
        """For the program with these settings, called at these sizes."""
        return Serving(self, settings, sizes)

    def begin(
        self, candidates: Sequence[Candidate], program: Mapping[str, Any], until: float, least: int
    ) -> Iterator[Built | Trial]:  # fmt: skip
        """As `build` of a Builder says. Of an earlier batch nothing more is made. `program`: what else a
        process must know."""
        self.abandon()
        batch = _Batch(candidates, program, until, least)
        batch.working = [self._threads.submit(batch.work, child) for child in self._all]
        self._batch = batch
        return batch.arriving()

    def abandon(self) -> None:
        """As a Builder does."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        batch.stopped.set()
        for child, done in zip(self._all, batch.working, strict=True):
            if not done.done():
                child.kill()
        for done in batch.working:
            done.result()


@record
class Serving:
    """Builders of one job."""

    builders: Builders
    settings: Mapping[str, str]
    sizes: Mapping[str, int]

    def build(
        self, candidates: Sequence[Candidate], until: float = FOREVER, least: int = 0, whole: bool = False
    ) -> Iterator[Built | Trial]:  # fmt: skip
        """As a Builder does. Work begins at once, not when the first is asked for."""
        sizes = None if whole else dict(self.sizes)
        program = {"settings": dict(self.settings), "sizes": sizes}
        return self.builders.begin(candidates, program, until, least)

    def abandon(self) -> None:
        """As a Builder does."""
        self.builders.abandon()


class _Batch:
    """Candidates that wait for processes, and what came of the others."""

    def __init__(
        self, candidates: Sequence[Candidate], program: Mapping[str, Any], until: float, least: int
    ) -> None:
        self._waiting = deque(candidates)
        self._needed = {c.key for c in candidates[:least]}
        self._program, self._until = program, until
        self._done: SimpleQueue[Built | Trial | None] = SimpleQueue()
        self.stopped = threading.Event()
        self.working: list[Future[None]] = []

    def work(self, child: _Child) -> None:
        """What one process does: one after the other, as long as there is time for one more."""
        try:
            while not self.stopped.is_set():
                try:
                    taken = self._waiting.popleft()
                except IndexError:
                    return
                until = FOREVER if taken.key in self._needed else self._until
                if time.monotonic() + child.pace > until:
                    continue
                made = child.build(taken, self._program, until)
                if made is not None and not self.stopped.is_set():
                    self._done.put(made)
        finally:
            self._done.put(None)

    def arriving(self) -> Iterator[Built | Trial]:
        """Until all processes have nothing to do."""
        left = len(self.working)
        while left:
            made = self._done.get()
            if made is None:
                left -= 1
            else:
                yield made
        for done in self.working:
            done.result()


class _Child:
    """One process; started again after it died."""

    def __init__(self, source: Source, target: Target, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._source, self._target, self._folder = source, target, folder
        self._process: subprocess.Popen[bytes] | None = None
        self.pace = 0.0  # seconds that the last one took
        self._killed = False
        self._errors = folder / "stderr"
        self._start()

    def _start(self) -> None:
        command = (sys.executable, "-P", "-m", "hbc.cli.measuring.builder_child", str(self._folder))
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                process_group=None if sys.platform == "win32" else 0,
            )  # fmt: skip
        self._send(
            {
                "name": self._source.name, "text": self._source.text, "target": self._target.name,
                "isa": [str(path.resolve()) for path in self._target.isa],
            }
        )  # fmt: skip
        self._ready, self._killed = False, False

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

    def build(
        self, candidate: Candidate, program: Mapping[str, Any], until: float
    ) -> Built | Trial | None:
        """None where the time is over."""
        if self._process is None:
            self._start()
        if not self._ready:
            line, _ = self._receive(min(START, until - time.monotonic()))
            if not line:
                if self._killed or time.monotonic() >= until:
                    self.end()
                    return None
                raise InternalError(f"a process that compiles did not start: {self._last_words()}")
            self._ready = True
        begun = time.monotonic()
        self._send(
            {
                "key": candidate.key, "text": candidate.text, "selects": candidate.selects,
                "strict": bool(candidate.point), **program,
            }
        )  # fmt: skip
        line, late = self._receive(min(TIMEOUT, until - begun))
        self.pace = time.monotonic() - begun
        if not line:
            reason = self._death(late)
            over = self._killed or time.monotonic() >= until
            return None if over else Trial(candidate, State.REFUSED, reason=reason)
        answer = json.loads(line)
        if "refused" in answer:
            return Trial(candidate, State.REFUSED, reason=answer["refused"])
        return Built(
            candidate, answer["library"], answer["function"], answer["parallel"],
            tuple(answer["instructions"]),
        )  # fmt: skip

    def kill(self) -> None:
        """Whoever waits for its answer gets none."""
        self._killed = True
        if (process := self._process) is not None:
            end_group(process, KILLED)

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


def libraries(
    built: Iterable[Built | Trial], refused: list[Trial] | None = None
) -> Iterator[Built]:
    """Those that were built; the others are added to a list."""
    for b in built:
        if isinstance(b, Built):
            yield b
        elif refused is not None:
            refused.append(b)
