"""Where candidates race: on this machine (`Here`), or on those of a fleet."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from random import Random
from typing import Protocol

from hbc.cli.files.inputs import physical_memory
from hbc.cli.measuring.builder import FOREVER, Builder, libraries
from hbc.cli.measuring.expected import Expected
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.meter import Meter, NativeMeter
from hbc.cli.measuring.racing import ROUNDS, Interrupted, race
from hbc.cli.measuring.trial import Built, Candidate, Failure, State, Trial
from hbc.ir.ground.record import mutable

BATCH = 8  # candidates that are built and measured together
TURNS = 0.1  # seconds that a candidate takes to be measured, until it is known


class Track(Protocol):
    """What builds and measures candidates. Nothing begins from `until`, as `time.monotonic` has it."""

    @property
    def batch(self) -> int:
        """How many candidates it takes at a time."""

    def race(
        self, candidates: Sequence[Candidate], best: Trial | None, random: Random, rounds: int = ROUNDS,
        until: float = FOREVER, needed: int = 0,
    ) -> list[Trial]:  # fmt: skip
        """A trial for each that is over by then, and for the `needed` first of them; seconds are in
        proportion to those of the best. Where that cannot be built any more, its refusal is among them.
        Interrupted, and Deserted, with the trials by then."""

    def beside(
        self, candidates: Sequence[Candidate], random: Random, rounds: int, until: float
    ) -> list[Trial]:
        """The trials of all in turns on one machine, none left behind, as libraries for all sizes: of the two
        first, and of those that are compiled by then."""

    def elsewhere(self, candidate: Candidate) -> Failure | None:
        """What is wrong with it at other sizes."""

    def abandon(self) -> None:
        """What was begun is not needed any more."""


class Deserted(Exception):
    """There is nobody left who measures. `trials`: what is known by then."""

    def __init__(self, trials: Sequence[Trial] = ()) -> None:
        super().__init__()
        self.trials = list(trials)


@contextmanager
def here(job: Job, builder: Builder) -> Iterator[Here]:
    """The track of this machine for a job."""
    with NativeMeter(job, Expected(job)) as meter:
        there = physical_memory() or 1 << 32  # in which the arrays of a batch are at once
        yield Here(builder, meter, max(min(BATCH, there // 4 // max(job.bytes, 1)), 1))


@mutable
class Here:
    """The track of this machine. `libraries`: by schedule, of what runs at the sizes of the job, or the
    whole; `turns`: seconds to measure a candidate of the last batch."""

    builder: Builder
    meter: Meter
    batch: int
    libraries: dict[tuple[str, bool], Built] = field(default_factory=dict)
    turns: float = TURNS

    def race(
        self, candidates: Sequence[Candidate], best: Trial | None, random: Random, rounds: int = ROUNDS,
        until: float = FOREVER, needed: int = 0,
    ) -> list[Trial]:  # fmt: skip
        refused: list[Trial] = []
        champion = None
        if best is not None and best.seconds is not None and candidates:
            (built,) = self._made([best.candidate])
            if isinstance(built, Trial):
                refused.append(built)
            else:
                champion = built, best.seconds
        arriving = self.builder.build(
            candidates, until - self.turns * len(candidates), least=needed
        )
        self.meter.prepare()  # while the first are compiled
        compiled = time.monotonic()

        def made() -> Iterator[Built]:
            nonlocal compiled
            for b in libraries(arriving, refused):
                self.libraries[b.candidate.key, False] = b
                yield b
            compiled = time.monotonic()

        try:
            raced, _ = race(self.meter, made(), champion, random, rounds, until=until)
        except Interrupted as stop:
            raise Interrupted([*refused, *stop.trials]) from stop
        if raced:
            self.turns = (time.monotonic() - compiled) / len(raced)
        return [*refused, *raced]

    def beside(
        self, candidates: Sequence[Candidate], random: Random, rounds: int, until: float
    ) -> list[Trial]:
        made = self._made(candidates, True, until, least=2)
        built = [b for b in made if isinstance(b, Built)]
        raced, _ = race(self.meter, built, None, random, rounds, {}, until)
        return [*(b for b in made if isinstance(b, Trial)), *raced]

    def elsewhere(self, candidate: Candidate) -> Failure | None:
        (built,) = self._made([candidate], whole=True)
        if isinstance(built, Trial):
            return Failure(State.REFUSED, built.reason)
        return self.meter.elsewhere(built)

    def abandon(self) -> None:
        self.builder.abandon()

    def _made(
        self, candidates: Sequence[Candidate], whole: bool = False, until: float = FOREVER, least: int = 0
    ) -> list[Built | Trial]:  # fmt: skip
        """Libraries of candidates that were measured before, made where they are not there; of the `least`
        first, and of those that are there by then."""
        missing = [c for c in candidates if (c.key, whole) not in self.libraries]
        needed = sum(c in missing for c in candidates[:least])
        refused: dict[str, Trial] = {}
        for made in self.builder.build(missing, until, needed, whole) if missing else ():
            if isinstance(made, Built):
                self.libraries[made.candidate.key, whole] = made
            else:
                refused[made.candidate.key] = made
        found = [refused.get(c.key) or self.libraries.get((c.key, whole)) for c in candidates]
        return [f for f in found if f is not None]
