"""Candidates run: each in a child process of its own with limits, its outputs compared with the oracle's."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from hbc.cli.measuring.elsewhere import failure_elsewhere
from hbc.cli.measuring.expected import Expected
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.trial import Built, Failure, State, failed
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.native import Argument, Native, Repeat, by_value, output_shapes
from hbc.ir.ground.diag import HbcError, InternalError
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import numpy_dtype

if TYPE_CHECKING:
    from hbc.frontend.oracle.oracle import Reference

WINDOW = 0.002  # seconds of calls of which the quickest counts
FIRST_TIMEOUT = 60.0  # seconds of the first call, when nothing is known
SLOWEST = 50.0  # times the best: a call that takes longer hangs
LEAST_TIMEOUT = 5.0
POISON = (0xFF, 0xA5)  # of floats, of integers
MEMORY_TIMES, MEMORY_MORE = 8, 6 << 30  # of the arrays; address space that a process reserves


class Meter(Protocol):
    """What runs candidates. One that failed is not asked for again."""

    def prepare(self) -> None:
        """What takes time and needs no library."""

    def begin(self, built: Built, best: float | None) -> Failure | None:
        """Calls it once and compares the outputs. `best`: seconds of the best so far."""

    def window(self, built: Built) -> float | Failure:
        """The least seconds of a few calls."""

    def end(self, built: Built) -> None:
        """It is not needed any more."""

    def elsewhere(self, built: Built) -> Failure | None:
        """Calls it at other sizes."""


class NativeMeter:
    """Runs libraries on this processor, used as a context manager."""

    def __init__(self, job: Job, expected: Expected) -> None:
        import numpy as np

        self._job, self._expected = job, expected
        self._owned = contextlib.ExitStack()
        self._folder = self._owned.enter_context(scratch_folder())
        self._running: dict[str, Native] = {}
        self._arguments = []
        constants = {i.name for i in job.pipeline.inputs if i.constant}  # packed before the calls
        taken = {given: output for output, given in job.pipeline.in_place.items()}
        self._begins: dict[str, str] = {}  # what outputs in the place of an input begin with
        for number, (name, array) in enumerate(job.run.inputs.items()):
            if array.ndim == 0:
                self._arguments.append(by_value(name, array))
                continue
            path = self._folder / f"in-{number}"
            path.write_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            if name in taken:
                self._begins[taken[name]] = str(path)
                continue
            self._arguments.append(
                Argument(name, array.nbytes, load=str(path), packed=name in constants)
            )

    def __enter__(self) -> NativeMeter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, at: TracebackType | None
    ) -> None:  # fmt: skip
        with held_signals():
            for native in self._running.values():
                native.__exit__(kind, failure, at)
            self._running.clear()
            self._owned.close()

    def prepare(self) -> None:
        self._expected.prepare()

    def begin(self, built: Built, best: float | None) -> Failure | None:
        timeout = FIRST_TIMEOUT if best is None else max(SLOWEST * best, LEAST_TIMEOUT)
        memory = MEMORY_TIMES * self._job.bytes + MEMORY_MORE
        native = Native(Path(built.library), self._job.threads, timeout, memory=memory)
        self._running[built.candidate.key] = native
        outputs = output_shapes(self._job.pipeline, self._job.run.sizes)
        arguments = list(self._arguments)
        for number, (name, (shape, element)) in enumerate(outputs.items()):
            length = element.bytes
            for extent in shape:
                length *= extent
            fill, save = POISON[not element.is_float], str(self._folder / f"out-{number}")
            begins = self._begins.get(name)
            fill_of = None if begins else fill
            arguments.append(Argument(name, length, load=begins, fill=fill_of, save=save))
        sizes = list(self._job.run.sizes.values())
        try:
            native.request(
                built.function, f"{built.function}_strerror", sizes, arguments, Repeat(), False
            )
        except (HbcError, InternalError) as failure:
            self.end(built)
            return failed(failure)
        wrong = self._wrong(outputs, self._expected.outputs(built.instructions))
        if wrong is not None:
            self.end(built)
            return Failure(State.WRONG, wrong)
        return None

    def _wrong(
        self, outputs: Mapping[str, tuple[tuple[int, ...], DType]], expected: Mapping[str, Reference]
    ) -> str | None:  # fmt: skip
        """How the outputs of the last call differ from what the oracle says."""
        import numpy as np

        found = {}
        for number, (name, (shape, element)) in enumerate(outputs.items()):
            raw = np.fromfile(self._folder / f"out-{number}", dtype=np.uint8)
            found[name] = raw.view(numpy_dtype(element)).reshape(shape)
        checked = check_outputs(found, expected)
        return None if checked.ok else checked.mistakes[0]

    def window(self, built: Built) -> float | Failure:
        native = self._running[built.candidate.key]
        try:
            repeat = Repeat(least=2, seconds=WINDOW, most=1000, own=self._job.threads == 1)
            times = native.again(built.function, repeat)
        except (HbcError, InternalError) as failure:
            self.end(built)
            return failed(failure)
        seen = [t for t in times if t > 0]  # a thread's clock may stand still on a busy machine
        if not seen:
            self.end(built)
            return Failure(State.REFUSED, "its calls take less time than can be measured")
        return min(seen)

    def end(self, built: Built) -> None:
        native = self._running.pop(built.candidate.key, None)
        if native is not None:
            native.__exit__(None, None, None)

    def elsewhere(self, built: Built) -> Failure | None:
        return failure_elsewhere(self._job, built)
