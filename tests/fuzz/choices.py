"""Where the generators' choices come from: a hypothesis draw, a random seed, or a recorded list.

A choice is an integer from a range; the low end is always the simpler one, so that a failing program
shrinks by making its choices smaller and fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """The one thing that generators ask for."""

    def integer(self, low: int, high: int) -> int:
        """low <= result <= high."""
        ...


@dataclass(slots=True)
class Recorded:
    """Replays `planned`; after its end draws from `random`, or takes the low end. `taken` is the
    list that gives the same again."""

    planned: Sequence[int] = ()
    random: Random | None = None
    taken: list[int] = field(default_factory=list)

    def integer(self, low: int, high: int) -> int:
        at = len(self.taken)
        if at < len(self.planned):
            value = min(max(self.planned[at], 0), high - low)
        elif self.random is not None:
            value = self.random.randint(0, high - low)
        else:
            value = 0
        self.taken.append(value)
        return low + value


@dataclass(frozen=True, slots=True)
class Drawn:
    """Choices made by hypothesis; `draw` is its function integer(low, high)."""

    draw: Callable[[int, int], int]

    def integer(self, low: int, high: int) -> int:
        return self.draw(low, high)


def pick(c: Choices, options: Sequence[T]) -> T:
    """One of the options, the simplest first."""
    return options[c.integer(0, len(options) - 1)]


def weighted(c: Choices, options: Sequence[tuple[int, T]]) -> T:
    """One of the options, each as likely as its weight; the simplest first."""
    at = c.integer(0, sum(weight for weight, _ in options) - 1)
    for weight, option in options:
        if at < weight:
            return option
        at -= weight
    raise AssertionError("weights are positive")


def chance(c: Choices, percent: int) -> bool:
    """True in that share of cases; False is the simpler."""
    return c.integer(0, 99) >= 100 - percent


def shuffled(c: Choices, items: Sequence[T]) -> list[T]:
    """A permutation; all low choices give the order as it is."""
    rest = list(items)
    return [rest.pop(c.integer(0, len(rest) - 1)) for _ in items]


def shrink(values: list[int], fails: Callable[[list[int]], bool], tries: int = 400) -> list[int]:
    """A smaller list of choices that still fails: runs of choices are dropped, then made low."""
    budget = tries

    def still_fails(candidate: list[int]) -> bool:
        nonlocal budget
        budget -= 1
        return budget >= 0 and fails(candidate)

    best = values
    progress = True
    while progress and budget > 0:
        before = list(best)
        for width in (64, 32, 16, 8, 4, 3, 2, 1):
            best = _drop(best, width, still_fails)
        for width in (8, 1):
            best = _lower(best, width, still_fails)
        progress = best != before
    return best


def _drop(best: list[int], width: int, fails: Callable[[list[int]], bool]) -> list[int]:
    at = len(best) - width
    while at >= 0:
        candidate = best[:at] + best[at + width :]
        if fails(candidate):
            best = candidate
        at -= width
    return best


def _lower(best: list[int], width: int, fails: Callable[[list[int]], bool]) -> list[int]:
    for at in range(0, len(best), width):
        part = best[at : at + width]
        for smaller in ([0] * len(part), [v // 2 for v in part], [max(v - 1, 0) for v in part]):
            candidate = best[:at] + smaller + best[at + width :]
            if smaller != part and fails(candidate):
                best = candidate
                break
    return best
