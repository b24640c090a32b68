"""The loop of a tuning: propose, have it measured, remember; until nothing is left or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Protocol

from hbc.cli.measuring.builder import FOREVER
from hbc.cli.measuring.racing import Interrupted
from hbc.cli.measuring.track import Deserted, Track
from hbc.cli.measuring.trial import Candidate, Failure, State, Trial, best_of
from hbc.cli.tuning.strategy import Explored, Strategy, measured
from hbc.ir.ground.record import mutable

TRIALS_SPENT, TIME_SPENT, INTERRUPTED = "trials", "time", "interrupted"
DESERTED = "workers"  # none is left
NEAR, SETTLED = 1.05, 3  # how many within which share of the best are measured again
FINISHED = "finished"  # the strategy had nothing more to propose


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
    track: Track
    random: Random
    known: Callable[[Candidate], Trial | None]
    note: Callable[[Trial], None]
    limit: int
    deadline: float
    trials: list[Trial]
    stopped: str = FINISHED
    pace: float = 0.0  # seconds for a candidate
    begun: float = 0.0  # when, by `time.monotonic`

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
                count = 1 if late else min(self.track.batch, left, self._that_fit())
                found = strategy.propose(self.explored, self.trials, count)
                if not found:
                    return
                watch.building(len(found))
                self.try_all(found)
                watch.tried(self)
        except KeyboardInterrupt:
            self.track.abandon()
            self.stopped = INTERRUPTED
        except Deserted:
            self.stopped = DESERTED

    def _that_fit(self) -> int:
        """So many candidates are over by the deadline, at the pace so far; one at least."""
        if not self.pace:
            return self.track.batch
        return max(int((self.deadline - time.monotonic()) / self.pace), 1)

    def try_all(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """Their trials, in the order given. What is not compiled or called once by the deadline has none,
        but for the very first."""
        kept = {c.key: t for c in candidates if (t := self.known(c)) is not None}
        fresh = [c for c in candidates if c.key not in kept]
        try:
            raced = self._raced(fresh) if fresh else []
        except (Interrupted, Deserted) as stop:
            self._keep(candidates, [*kept.values(), *stop.trials])
            raise
        return self._keep(candidates, [*kept.values(), *raced])

    def _raced(self, fresh: Sequence[Candidate]) -> list[Trial]:
        """Those that were over in time. A best that cannot be built any more is none."""
        best, needed = self.best, 0 if self.trials else 1
        raced = self.track.race(fresh, best, self.random, until=self.deadline, needed=needed)
        if best is not None and any(t.candidate.key == best.candidate.key for t in raced):
            self._forget(best.candidate)
        return raced

    def _keep(self, candidates: Sequence[Candidate], over: Sequence[Trial]) -> list[Trial]:
        """Remembers and notes what became of them."""
        by = {t.candidate.key: t for t in over}
        at = time.monotonic() - self.begun
        found = [replace(by[c.key], at=at) for c in candidates if c.key in by]
        for trial in found:
            if not trial.kept:
                self.note(trial)
        self.trials += found
        return found

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
        again = [t.candidate for t in (*near[:1], *first, *near[1:])]
        raced = self.track.beside(again, self.random, rounds, until)
        for t in raced:
            if t.state is State.REFUSED:
                self._forget(t.candidate)
        return measured(raced)
