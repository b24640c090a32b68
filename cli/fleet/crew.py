"""The workers of a scheduler: who is there and fit to measure, and requests handed to them one at a time.

Each worker has one request of ours. One whose worker is gone is made again elsewhere once, then given up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from hbc.cli.fleet import worker
from hbc.cli.fleet.bundle import Bundle
from hbc.cli.fleet.messages import Message
from hbc.cli.fleet.told import Told, told_by
from hbc.cli.measuring.builder import FOREVER
from hbc.cli.measuring.measured_on import Machine
from hbc.cli.measuring.track import Deserted
from hbc.cli.show.report import notice
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.ground.record import record

POLL = 0.25  # seconds between two looks at who is there
GONE = 10.0  # seconds without a worker after which none is expected any more
LATE = 10.0  # seconds after which what should be over is not waited for
TRIES = 2  # workers that a request is given to


@record
class Answer:
    """What came of a request, by its number, and of whom; `lost`: the workers that were gone before."""

    number: int
    worker: str
    said: Message
    lost: tuple[str, ...] = ()


class Crew:
    """Workers with the same processor, hbc and compiler: of `machine`. Others are left aside."""

    def __init__(self, client: Any, machine: Machine, told: Mapping[str, Told]) -> None:
        self._client, self.machine = client, machine
        self._told = dict(told)
        self._given: set[tuple[str, str]] = set()  # who knows of which job

    def there(self) -> list[str]:
        """The addresses of those that can be asked now."""
        try:
            addresses = list(self._client.nthreads())
            new = [a for a in addresses if a not in self._told]
            for address, told in told_by(self._client, new).items():
                self._told[address] = told
                if told.machine != self.machine:
                    notice(f"note: the worker {address} came, and is left aside: {told}")
        except (OSError, TimeoutError):  # nor is the scheduler
            return []
        return [a for a in addresses if a in self._told and self._told[a].machine == self.machine]

    def answers(
        self, key: str, bundle: Bundle, requests: Sequence[Message], until: float, patient: int = 0
    ) -> Generator[Answer]:  # fmt: skip
        """As they come, until all have one. What has none a while after `until`, as `time.monotonic` has
        it, has none, but for the `patient` first. Deserted where no worker is left; ToolError where one
        cannot do what it is asked."""
        waiting = deque(range(len(requests)))
        lost: dict[int, list[str]] = {n: [] for n in waiting}
        running: dict[Any, tuple[int, str]] = {}
        done: SimpleQueue[Any] = SimpleQueue()
        seen = time.monotonic()
        try:
            while waiting or running:
                there = self.there()
                now = time.monotonic()
                seen = now if there else seen
                if now > seen + GONE:
                    raise Deserted
                needed = any(n < patient for n in (*waiting, *(n for n, _ in running.values())))
                if now >= until:  # nothing begins any more
                    waiting = deque(n for n in waiting if n < patient)
                if now >= until + LATE and not needed:
                    return
                for future, (number, address) in list(running.items()):
                    if address not in there:
                        del running[future]
                        self._client.cancel([future], force=True)
                        yield from self._again(number, address, waiting, lost)
                busy = {address for _, address in running.values()}
                for address in [a for a in there if a not in busy]:
                    following = _next(waiting, lost, address, there)
                    if following is not None:
                        future = self._submit(key, bundle, requests[following], address, until)
                        running[future] = following, address
                        future.add_done_callback(done.put)
                try:
                    future = done.get(timeout=POLL)
                except Empty:
                    continue
                if future not in running:  # it was cancelled
                    continue
                number, address = running.pop(future)
                said = _said(future, address)
                if said is None:
                    yield from self._again(number, address, waiting, lost)
                elif "unknown" in said:
                    self._given.discard((key, address))
                    waiting.appendleft(number)
                else:
                    yield Answer(number, address, said)
        finally:
            if running:
                self._client.cancel(list(running), force=True)
                self.tell(worker.abandon, key)

    def tell(self, function: Any, key: str) -> None:
        """Calls a function of `worker` on all, beside what they are doing."""
        there = self.there()
        if there:
            self._client.run(function, key, workers=there, on_error="ignore")

    def _submit(
        self, key: str, bundle: Bundle, request: Message, address: str, until: float
    ) -> Any:
        """Clocks differ: it is said how many seconds are left."""
        left = None if until == FOREVER else until - time.monotonic()
        known = (key, address) in self._given
        self._given.add((key, address))
        return self._client.submit(
            worker.asked, key, None if known else bundle, {**request, "seconds": left},
            workers=[address], pure=False,
        )  # fmt: skip

    def _again(
        self, number: int, address: str, waiting: deque[int], lost: Mapping[int, list[str]]
    ) -> Iterator[Answer]:
        """Behind the others, where it may be tried once more."""
        lost[number].append(address)
        if len(lost[number]) < TRIES:
            waiting.append(number)
        else:
            yield Answer(number, address, {}, tuple(lost[number]))


def _next(
    waiting: deque[int], lost: Mapping[int, list[str]], address: str, there: Sequence[str]
) -> int | None:
    """The first that this worker has not lost already, unless there is no other."""
    for number in waiting:
        if address not in lost[number] or set(there) <= set(lost[number]):
            waiting.remove(number)
            return number
    return None


def _said(future: Any, address: str) -> Message | None:
    """What a worker answered; None where it or its process is gone. ToolError where it cannot."""
    failure = future.exception() if future.status == "error" else None
    if failure is None and future.status == "finished":
        said: Message = future.result()
        if "refused" in said:
            raise ToolError(Diagnostic(f"the worker {address} cannot measure: {said['refused']}"))
        return None if "died" in said else said
    if failure is None or isinstance(failure, OSError):
        return None
    from distributed import KilledWorker

    if isinstance(failure, KilledWorker):
        return None
    what = f"the worker {address} failed: {type(failure).__name__}: {failure}"
    raise ToolError(Diagnostic(what.splitlines()[0]))
