"""The loop of a tuning: propose, build, measure in turns, remember; until nothing is left or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Protocol

from hbc.cli.measuring.builder import FOREVER, Builder, libraries
from hbc.cli.measuring.meter import Meter
from hbc.cli.measuring.racing import Interrupted, race
from hbc.cli.measuring.trial import Built, Candidate, Failure, State, Trial, best_of
from hbc.cli.tuning.strategy import BATCH, Explored, Strategy, measured
from hbc.ir.ground.record import mutable

TRIALS_SPENT, TIME_SPENT, INTERRUPTED = "trials", "time", "interrupted"
NEAR, SETTLED = 1.05, 4  # how many within which share of the best are measured again
FINISHED = "finished"  # the strategy had nothing more to propose
TURNS = 0.1  # seconds that a candidate takes to be measured, until it is known


class Watch(Protocol):
    """Who is told how it goes."""

    def building(self, count: int) -> None:
        """So many candidates are compiled now."""

    def tried(self, found: Search) -> None:
        """A batch has been measured."""


@mutable
class Search:
    """Everything that a search has found. `known`: finds trials of other runs; `note`: takes every new
    trial when it is over; `limit`: candidates to try at most, `deadline`: by `time.monotonic`."""

    explored: Explored
    builder: Builder
    meter: Meter
    random: Random
    known: Callable[[Candidate], Trial | None]
    note: Callable[[Trial], None]
    limit: int
    deadline: float
    trials: list[Trial]
    libraries: dict[str, Built]
    batch: int = BATCH
    stopped: str = FINISHED
    pace: float = 0.0  # seconds for a candidate
    begun: float = 0.0  # when, by `time.monotonic`
    turns: float = TURNS  # seconds to measure a candidate of the last batch

    @property
    def best(self) -> Trial | None:
        """The fastest so far."""
        return best_of(self.trials)

    def run(self, strategy: Strategy, watch: Watch) -> None:
        """Until the strategy is done or a limit is reached. What was found stays when it is interrupted."""
        self.begun = time.monotonic()
        try:
            while True:
                if self.trials:
                    self.pace = (time.monotonic() - self.begun) / len(self.trials)
                left = self.limit - len(self.trials)
                late = time.monotonic() >= self.deadline
                if left <= 0 or (late and self.trials):
                    self.stopped = TRIALS_SPENT if left <= 0 else TIME_SPENT
                    return
                # The first is tried though the oracle took all of the time: there is a result then.
                count = 1 if late else min(self.batch, left, self._that_fit())
                found = strategy.propose(self.explored, self.trials, count)
                if not found:
                    return
                watch.building(len(found))
                self.try_all(found)
                watch.tried(self)
        except KeyboardInterrupt:
            self.builder.abandon()
            self.stopped = INTERRUPTED

    def _that_fit(self) -> int:
        """So many candidates are over by the deadline, at the pace so far; one at least."""
        if not self.pace:
            return self.batch
        return max(int((self.deadline - time.monotonic()) / self.pace), 1)

    def try_all(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """Their trials, in the order given. What is not compiled or called once by the deadline has none,
        but for the very first."""
        kept = {c.key: t for c in candidates if (t := self.known(c)) is not None}
        fresh = [c for c in candidates if c.key not in kept]
        champion = self.champion() if fresh else None
        refused: list[Trial] = []
        try:
            raced = self._raced(fresh, champion, refused)
        except Interrupted as stop:
            self.trials += [*refused, *stop.trials]
            raise
        for trial in [*refused, *raced]:
            self.note(trial)
        by = {t.candidate.key: t for t in [*kept.values(), *refused, *raced]}
        at = time.monotonic() - self.begun
        found = [replace(by[c.key], at=at) for c in candidates if c.key in by]
        self.trials += found
        return found

    def _raced(
        self, fresh: Sequence[Candidate], champion: tuple[Built, float] | None, refused: list[Trial]
    ) -> list[Trial]:  # fmt: skip
        """Compiled and measured beside the champion."""
        until = self.deadline - self.turns * len(fresh)
        arriving = self.builder.build(fresh, until, least=0 if self.trials else 1)
        self.meter.prepare()  # while the first are compiled
        compiled = self.begun

        def made() -> Iterator[Built]:
            nonlocal compiled
            for b in libraries(arriving, refused):
                self.libraries[b.candidate.key] = b
                yield b
            compiled = time.monotonic()

        raced, _ = race(self.meter, made(), champion, self.random, until=self.deadline)
        if raced:
            self.turns = (time.monotonic() - compiled) / len(raced)
        return raced

    def champion(self) -> tuple[Built, float] | None:
        """The best so far as a library, which is made where it is known from another run only."""
        best = self.best
        if best is None or best.seconds is None:
            return None
        built = self.library(best.candidate)
        return None if built is None else (built, best.seconds)

    def library(self, candidate: Candidate) -> Built | None:
        """Of a candidate that was measured before."""
        if candidate.key not in self.libraries:
            (made,) = self.builder.build([candidate])
            if isinstance(made, Trial):
                self._forget(candidate)
                return None
            self.libraries[candidate.key] = made
        return self.libraries[candidate.key]

    def reject(self, t: Trial, failure: Failure) -> None:
        """What was measured is none to take."""
        found = Trial(t.candidate, failure.state, reason=failure.reason)
        self._forget(t.candidate)
        self.trials.append(found)
        self.note(found)

    def _forget(self, candidate: Candidate) -> None:
        """What was measured once and cannot be made again is not the best of anything."""
        self.trials = [t for t in self.trials if t.candidate.key != candidate.key]

    def settle(self, rounds: int = 15, until: float = FOREVER) -> list[Trial]:
        """The best of all once more beside those that are near it, and beside the first: who won by chance
        does not stay. The quickest first. No round begins from `until`."""
        ranked = measured(self.trials)
        near = [t for t in ranked if (t.seconds or 0) <= NEAR * (ranked[0].seconds or 0)][:SETTLED]
        first = [t for t in self.trials[:1] if t.state is State.MEASURED and t not in near]
        again = [b for t in [*near, *first] if (b := self.library(t.candidate)) is not None]
        raced, _ = race(self.meter, again, None, self.random, rounds, {}, until)
        return measured(raced)
