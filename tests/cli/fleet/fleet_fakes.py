"""A client of Dask without Dask: workers that answer at once, are silent, or are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hbc.cli.fleet import worker
from hbc.cli.fleet.crew import Crew
from hbc.cli.fleet.told import Told, own_version
from hbc.cli.measuring.measured_on import Machine
from hbc.cli.measuring.trial import Candidate, key_of

MACHINE = Machine("Z80", "f", "gcc 1", "m", ("c",))
OTHER = replace(MACHINE, cpu="6502")


def told(machine: Machine = MACHINE) -> Told:
    return Told(own_version(), machine)


def candidate(name: str, seconds: float = 1.0) -> Candidate:
    """Fakes measure it in so many seconds."""
    return Candidate({"n": name}, f"schedule x for c {{ {name} }}", name, seconds)


@dataclass(eq=False)
class FakeFuture:
    status: str = "pending"
    said: object = None

    def result(self) -> object:
        return self.said

    def exception(self) -> object:
        return self.said

    def add_done_callback(self, call: Callable[[FakeFuture], None]) -> None:
        if self.status != "pending":
            call(self)


def answered(request: Mapping) -> dict:
    """What a worker says that measures everything right: the estimate is what it finds."""
    found = [
        {"key": key_of(c["text"]), "state": "measured", "seconds": c["cycles"], "reason": ""}
        for c in request["candidates"]
    ]
    return {"trials": found} if request["do"] != "elsewhere" else {"failure": None}


@dataclass
class FakeClient:
    """`workers`: how each answers a request: by what is said, an exception, or None: never. `gone` are those
    that are not there when they have one."""

    workers: dict[str, Callable[[Mapping], object]]
    gone: set[str] = field(default_factory=set)
    asked: list[tuple[str, dict]] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    cancelled: int = 0
    bundles: list[tuple[str, bool]] = field(default_factory=list)

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def submit(
        self, function: object, key: str, bundle: object, request: dict, workers: list[str], pure: bool
    ) -> FakeFuture:  # fmt: skip
        (address,) = workers
        assert function is worker.asked and not pure
        self.asked.append((address, request))
        self.bundles.append((address, bundle is not None))
        said = self.workers[address](request)
        if address in self.gone:
            del self.workers[address]
        if said is None:
            return FakeFuture()
        return FakeFuture("error" if isinstance(said, Exception) else "finished", said)

    def run(
        self, function: Callable, *arguments: str, workers: list[str], on_error: str
    ) -> dict[str, object]:
        if function is worker.facts:
            return {a: OSError("no such worker") for a in workers}
        self.told += [(function.__name__, a) for a in workers]
        return {}

    def cancel(self, futures: list[FakeFuture], force: bool) -> None:
        self.cancelled += len(futures)


def crew_of(client: FakeClient, others: Mapping[str, Told] = {}) -> Crew:
    return Crew(client, MACHINE, {**{a: told() for a in client.workers}, **others})
