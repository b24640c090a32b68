"""The track of a fleet: each candidate is measured by one worker, in turns with the best on that worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from random import Random

from hbc.cli.fleet import worker
from hbc.cli.fleet.bundle import Bundle
from hbc.cli.fleet.crew import Answer, Crew
from hbc.cli.fleet.messages import Message, best_said, candidate_said, trials_read
from hbc.cli.measuring.builder import FOREVER
from hbc.cli.measuring.racing import ROUNDS, Interrupted
from hbc.cli.measuring.track import BATCH, Deserted
from hbc.cli.measuring.trial import Candidate, Failure, State, Trial
from hbc.ir.ground.record import record


@record
class FleetTrack:
    """Of one job, which the workers know by its key."""

    crew: Crew
    key: str
    bundle: Bundle

    @property
    def batch(self) -> int:
        """As many as are usual, and as keep all workers busy to the end."""
        count = max(len(self.crew.there()), 1)
        return -(-BATCH // count) * count

    def race(
        self, candidates: Sequence[Candidate], best: Trial | None, random: Random, rounds: int = ROUNDS,
        until: float = FOREVER, needed: int = 0,
    ) -> list[Trial]:  # fmt: skip
        """As a Track does. Without a best each is measured beside the first."""
        pairs = [[c] if best is not None or not n else [candidates[0], c]
                 for n, c in enumerate(candidates)]  # fmt: skip
        requests = [
            _request("race", pair, best=best_said(best), rounds=rounds,
                     needed=len(pair) if n < needed else 0)
            for n, pair in enumerate(pairs)
        ]  # fmt: skip
        asked = {c.key: c for c in (*candidates, *(() if best is None else (best.candidate,)))}
        found: list[list[Trial]] = []
        try:
            for answer in self._answers(requests, until, needed):
                found.append(_trials(answer, candidates[answer.number], asked))
        except KeyboardInterrupt as stop:
            raise Interrupted(in_proportion(found, candidates, best)) from stop
        except Deserted as end:
            raise Deserted(in_proportion(found, candidates, best)) from end
        return in_proportion(found, candidates, best)

    def beside(
        self, candidates: Sequence[Candidate], random: Random, rounds: int, until: float
    ) -> list[Trial]:
        asked = {c.key: c for c in candidates}
        request = _request("beside", candidates, rounds=rounds)
        return [
            t
            for answer in self._answers([request], until)
            if not answer.lost
            for t in trials_read(answer.said["trials"], asked, answer.worker)
        ]

    def elsewhere(self, candidate: Candidate) -> Failure | None:
        (answer,) = self._answers([_request("elsewhere", [candidate])], FOREVER)
        if answer.lost:
            return Failure(State.LOST, _gone(answer))
        said = answer.said["failure"]
        return None if said is None else Failure(State(said["state"]), said["reason"])

    def abandon(self) -> None:
        self.crew.tell(worker.abandon, self.key)

    def _answers(
        self, requests: Sequence[Message], until: float, patient: int = 0
    ) -> Iterator[Answer]:
        with closing(self.crew.answers(self.key, self.bundle, requests, until, patient)) as answers:
            yield from answers


def in_proportion(
    found: Sequence[Sequence[Trial]], candidates: Sequence[Candidate], best: Trial | None
) -> list[Trial]:
    """A trial for each candidate that was answered for, out of what each worker says. With a best the seconds
    are in proportion to it already; without, they are in proportion to those of the first: beside which each
    was measured, and whose least count. A best that nobody could build any more follows, refused."""
    trials = [t for each in found for t in each]
    first = candidates[0].key if candidates and best is None else None
    least = min((t.seconds for t in trials if t.candidate.key == first and t.seconds), default=None)
    by: dict[str, Trial] = {}
    for each in found:
        beside = next((t.seconds for t in each if t.candidate.key == first), None)
        scale = least / beside if least and beside else 1.0
        for t in each:
            known = by.get(t.candidate.key)
            if known is None or _counts_more(t, known):
                by[t.candidate.key] = _scaled(t, scale)
    refused = best is not None and found and all(
        any(t.candidate.key == best.candidate.key for t in each) for each in found
    )  # fmt: skip
    order = [*candidates, *([best.candidate] if refused and best is not None else ())]
    return [by[c.key] for c in order if c.key in by]


def _counts_more(t: Trial, known: Trial) -> bool:
    """One that failed somewhere is no result, and being lost says nothing of it."""
    ranks = {State.LOST: 0, State.MEASURED: 1}
    return ranks.get(t.state, 2) > ranks.get(known.state, 2)


def _scaled(t: Trial, scale: float) -> Trial:
    if t.seconds is None:
        return t
    return Trial(t.candidate, t.state, t.seconds * scale, worker=t.worker)


def _request(what: str, candidates: Sequence[Candidate], **more: object) -> Message:
    return {"do": what, "candidates": [candidate_said(c) for c in candidates], **more}


def _trials(answer: Answer, candidate: Candidate, asked: Mapping[str, Candidate]) -> list[Trial]:
    if answer.lost:
        return [Trial(candidate, State.LOST, reason=_gone(answer), worker=answer.worker)]
    return trials_read(answer.said["trials"], asked, answer.worker)


def _gone(answer: Answer) -> str:
    return f"gone before it was over: {', '.join(answer.lost)}"
