"""Points drawn at random, each choice by itself: what other strategies have to be better than."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hbc.cli.measuring.trial import Candidate, Trial
from hbc.cli.tuning.strategy import Explored, untried

ATTEMPTS = 20  # draws for each that is wanted: several points are one schedule


class AtRandom:
    """What `auto` makes first, then draws."""

    name = "random"

    def __init__(self, random: Random) -> None:
        self._random = random

    def propose(self, explored: Explored, tried: Sequence[Trial], count: int) -> list[Candidate]:
        found = [] if tried else [explored.offer({}).candidate]
        for _ in range(count * ATTEMPTS):
            if len(found) >= count:
                break
            drawn = explored.offer(explored.anywhere(self._random)).candidate
            found = untried([*found, drawn], tried)
        return found
