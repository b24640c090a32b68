"""The model's best points, diverse, then neighbours of the best two that were measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from random import Random

from hbc.cli.measuring.track import BATCH
from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.cli.tuning.strategy import Explored, Offer, measured, untried
from hbc.frontend.costs.choices import Point

LOOKED_AT = 48  # points that are made to find the model's best of them
SECONDS = 1.0  # of the processor that this may take: on a busy machine no fewer are looked at
GAIN = 0.99  # a round that does not get below this share of the time gained nothing
PATIENCE = 2  # such rounds until it ends
ALIKE = 1.15  # what a point costs more, as the model ranks it, for each way in which it is like a chosen one
HOPES = {"block": 0.1, "tiles": 0.1, "at": 0.08, "order": 0.06, "rows": 0.05, "strip": 0.05}
HOPE = 0.03  # what another choice than these may gain beyond what the model sees, as a share of a Func's time
LOSING = 0.5  # what became of a choice's other trials weighs so much


class ByModel:
    """`first`: how many the model proposes before anything is measured."""

    name = "model"

    def __init__(self, random: Random, first: int = BATCH) -> None:
        self._random, self._first = random, first
        self._best: float | None = None
        self._idle = 0
        self._changed: dict[str, str] = {}  # the choice that led to a candidate

    def propose(self, explored: Explored, tried: Sequence[Trial], count: int) -> list[Candidate]:
        fresh = [t for t in tried if not t.kept]
        if len(fresh) < min(self._first, count) and not self._changed:
            leading = untried(self._leading(explored), tried)[: min(self._first, count)]
            self._changed[""] = ""
            if leading:
                return leading
        best = measured(tried)[:2]
        if not best:
            return self._others(explored, tried, count)
        now = best[0].seconds or 0.0
        self._idle = 0 if self._best is None or now < self._best * GAIN else self._idle + 1
        self._best = now if self._best is None else min(self._best, now)
        if self._idle >= PATIENCE:
            return []
        return self._around(explored, best, tried, count)

    def _leading(self, explored: Explored) -> list[Candidate]:
        """What `auto` makes, the schedules of the file, and the model's best of the neighbours of these
        and of neighbours of neighbours: those that differ, first."""
        start = explored.offer({})
        own = [explored.offer({"from": o}) for o in start.asked.get("from", ())[1:]]
        others = [
            explored.offer({"instructions": o}) for o in start.asked.get("instructions", ())[1:]
        ]
        pool = self._pool(explored, [start, *others])
        picked = [start, *own[:2]]
        while pool and len(picked) < 2 * self._first:
            pool.sort(key=lambda o: _cost(o) * ALIKE ** max(_alike(o, f) for f in picked))
            picked.append(pool.pop(0))
        return [o.candidate for o in picked]

    def _pool(self, explored: Explored, starts: Sequence[Offer]) -> list[Offer]:
        """What is near, as far as there is time to look."""
        until = time.process_time() + SECONDS
        offers: dict[str, Offer] = {s.candidate.key: s for s in starts[1:]}
        known = {starts[0].candidate.key}
        points = [starts[0].candidate.point]
        for distance in (1, 2):
            near: list[Point] = []
            for point in points:
                share = LOOKED_AT // distance // len(points)
                for n, (_, other) in enumerate(explored.neighbours(point)):
                    if n >= max(share, 4) or time.process_time() > until:
                        break
                    offer = explored.offer(other)
                    if offer.candidate.key not in known and offer.candidate.cycles is not None:
                        known.add(offer.candidate.key)
                        offers[offer.candidate.key] = offer
                        near.append(offer.candidate.point)
            points = sorted(near, key=lambda p: explored.offer(p).candidate.cycles or 0.0)[:6]
        return list(offers.values())

    def _around(
        self, explored: Explored, best: Sequence[Trial], tried: Sequence[Trial], count: int
    ) -> list[Candidate]:  # fmt: skip
        """As many neighbours of each, of the choices that did well so far first."""
        proposed: list[Candidate] = []
        for number, trial in enumerate(best):
            until = time.process_time() + SECONDS
            pool: list[tuple[float, str, Candidate]] = []
            start = trial.candidate
            for name, point in explored.neighbours(start.point):
                if len(pool) >= LOOKED_AT or time.process_time() > until:
                    break
                c = explored.offer(point).candidate
                if untried([c], tried) and c.key not in {x.key for _, _, x in pool}:
                    pool.append((_ratio(c, start) * self._luck(name, tried), name, c))
            pool.sort(key=lambda each: each[0])
            share = (count - len(proposed)) if number == len(best) - 1 else count // len(best)
            used: Counter[str] = Counter()
            for _, name, c in sorted(pool, key=lambda each: each[0]):
                if share > 0 and used[name] < 2 and untried([c], tried):
                    used[name] += 1
                    share -= 1
                    proposed.append(c)
                    self._changed[c.key] = name
        return untried(proposed, tried)[:count]

    def _luck(self, name: str, tried: Sequence[Trial]) -> float:
        """How the trials ended that another option of this choice led to: above 1 where worse than the best
        of all."""
        least = self._best or 1.0
        ends = [
            2.0
            if t.state is not State.MEASURED or t.seconds is None
            else min(t.seconds / least, 2.0)
            for t in tried
            if self._changed.get(t.candidate.key) == name
        ]
        if not ends:
            return 1.0
        return 1.0 + LOSING * (min(ends) - 1.0) + 0.05 * len(ends)

    def _others(
        self, explored: Explored, tried: Sequence[Trial], count: int
    ) -> list[Candidate]:  # fmt: skip
        """Nothing could be measured yet."""
        near = [explored.offer(point).candidate for _, point in explored.neighbours({})]
        return untried(near, tried)[:count]


def _cost(o: Offer) -> float:
    """What it takes if all that it chose turns out well: where little time is spent, little is gained."""
    if o.candidate.cycles is None:
        return float("inf")
    hopes = [
        HOPES.get(name.rpartition(".")[2], HOPE) * o.shares.get(name.partition(".")[0], 1.0)
        for name in o.candidate.point
    ]
    return o.candidate.cycles * (1.0 - max(hopes, default=0.0))


def _ratio(c: Candidate, of: Candidate) -> float:
    """What the model expects of a neighbour; a schedule of the file is not estimated."""
    if c.cycles is None or not of.cycles:
        return 1.0
    return c.cycles / of.cycles


def _alike(a: Offer, b: Offer) -> int:
    """In how many of the choices that both change they are the same."""
    p, q = a.candidate.point, b.candidate.point
    return sum(p.get(name) == q.get(name) for name in {**p, **q})
