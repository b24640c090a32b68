"""The two breaking points of UNIT (section III-C), as a line to compare with: the loops of the usual schedule
stay, and only where the parallel part ends and the unrolled part begins is tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.cli.measuring.trial import Candidate, Trial
from hbc.cli.tuning.strategy import Explored, untried
from hbc.frontend.costs.choices import Option, Point

UNROLLED = (".block", ".tiles", ".unroll", ".together")  # how much stands in the innermost body
PARALLEL = ("strip", ".order")  # what is left for the loops around it
PAIRS = 8  # of each that are combined: the paper tries as many, by rule of thumb first


class BreakingPoints:
    """All pairs, those of small bodies first, as the paper does."""

    name = "unit"

    def propose(self, explored: Explored, tried: Sequence[Trial], count: int) -> list[Candidate]:
        start = explored.offer({})
        bodies = _points(start.asked, UNROLLED)
        around = _points(start.asked, PARALLEL)
        pairs = sorted(
            ((a, b) for a in range(len(around)) for b in range(len(bodies))), key=lambda p: sum(p)
        )
        found: list[Candidate] = []
        for a, b in pairs:
            found = untried([*found, explored.offer({**around[a], **bodies[b]}).candidate], tried)
            if len(found) >= count:
                break
        return found


def _points(asked: Mapping[str, tuple[Option, ...]], endings: tuple[str, ...]) -> list[Point]:
    """What the choices with such names can be, one changed at a time."""
    found: list[Point] = [{}]
    for name, options in asked.items():
        if name.endswith(endings):
            found += [{name: option} for option in options[1 : PAIRS + 1]]
    return found[: 2 * PAIRS]
