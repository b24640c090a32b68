"""The published benchmarks: as many solutions as published, each executed exactly.

The counts under `wrap=outer` are those of the published tool, under `inner` those of its predecessor.
"""

from __future__ import annotations

import pytest
from sketch_solver import sample

OUTER = {"wrap": "outer"}

PUBLISHED = [
    ("crc", {"s": 3, **OUTER}, 2),
    ("crc", {"s": 5, **OUTER}, 2),
    ("crc", {"s": 9, **OUTER}, 2),
    ("rcr", {"s": 3, **OUTER}, 3),
    ("rcr", {"s": 4, **OUTER}, 128),
    ("sum", {"s": 3, **OUTER}, 2),
    ("sum", {"s": 11, **OUTER}, 2),
    ("conv1d", {"k": 3, **OUTER}, 1),
    ("conv1d", {"k": 11, **OUTER}, 1),
    ("stencil2d", {"k": 3, **OUTER}, 4),
    ("stencil2d", {"k": 7, **OUTER}, 4),
    ("ffm4", OUTER, 2),
    ("ffm8", OUTER, 2),
    ("ffm8_shared", {"level": 1, **OUTER}, 8),
    ("hvx_gaussian", {}, 4),
]
# Every transpose and sum of an even number of registers has no solution with the published `wrap`.
EVEN = [("crc", 2, 2), ("crc", 4, 9), ("crc", 8, 8), ("sum", 2, 2), ("sum", 4, 14), ("sum", 8, 34)]
# What the published tool could not do: out of memory, or of time.
BEYOND = [
    ("crc", {"s": 11}), ("crc", {"s": 13}), ("rcr", {"s": 11}), ("rcr", {"s": 13}),
    ("conv1d", {"k": 15}), ("conv1d", {"k": 17}), ("stencil2d", {"k": 11}), ("stencil2d", {"k": 13}),
    ("stencil1d", {"k": 9}), ("conv1d_wswizzled", {"k": 5}),
]  # fmt: skip
MOST_CHECKED = 20


def executed(outcome: object) -> int:
    """Lists some solutions: `solutions` executes each exactly and raises where one is wrong."""
    from itertools import islice

    from hbc.synth.results.solve import Outcome

    assert isinstance(outcome, Outcome)
    return len(list(islice(outcome.solutions(), MOST_CHECKED)))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "settings", "count"), PUBLISHED, ids=str)
def test_published_counts(name: str, settings: dict[str, int | str], count: int) -> None:
    outcome = sample(name, **settings)
    assert outcome.complete
    assert outcome.count() == count
    assert executed(outcome) == min(count, MOST_CHECKED)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "s", "count"), EVEN)
def test_even_sizes_need_the_inner_wrap(name: str, s: int, count: int) -> None:
    assert sample(name, s=s).count() == count
    assert sample(name, s=s, wrap="outer").count() == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "settings"), BEYOND, ids=str)
def test_sizes_beyond_the_published(name: str, settings: dict[str, int | str]) -> None:
    outcome = sample(name, **settings)
    assert outcome.complete
    assert executed(outcome) >= 1
    assert outcome.watch.states < 50_000


def test_cheapest_first() -> None:
    costs = [solution.cost for solution in sample("crc", s=4).solutions()]
    assert costs == sorted(costs)
    assert len(costs) == 9
