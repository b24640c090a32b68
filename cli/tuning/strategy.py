"""What proposes points to try, and what it may ask of the space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Protocol

from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.frontend.costs.choices import Option, Point
from hbc.ir.ground.record import mutable, record


class Schedules(Protocol):
    """A space of schedules, as `frontend.automatic.points.Space` is one."""

    def made(self, point: Point) -> MadeSchedule:
        """The schedule of a point."""


class MadeSchedule(Protocol):
    """As `frontend.automatic.points.Made`."""

    @property
    def text(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def point(self) -> Point: ...
    @property
    def asked(self) -> Mapping[str, tuple[Option, ...]]: ...
    @property
    def cycles(self) -> float | None: ...
    @property
    def selects(self) -> bool: ...
    @property
    def shares(self) -> Mapping[str, float]: ...


@record
class Offer:
    """A candidate, what else could have been chosen for it, and what each Func has of its time."""

    candidate: Candidate
    asked: Mapping[str, tuple[Option, ...]]
    shares: Mapping[str, float]


@mutable
class Explored:
    """The space as far as it was looked at: each point is made once."""

    schedules: Schedules
    offers: dict[str, Offer]

    def offer(self, point: Point) -> Offer:
        """The candidate of a point."""
        said = repr(sorted(point.items()))
        found = self.offers.get(said)
        if found is None:
            made = self.schedules.made(point)
            c = Candidate(made.point, made.text, made.about, made.cycles, made.selects)
            found = Offer(c, made.asked, made.shares)
            self.offers[said] = found
            self.offers.setdefault(repr(sorted(c.point.items())), found)
        return found

    def neighbours(self, point: Point) -> Iterator[tuple[str, Point]]:
        """Points that differ in one choice, with its name: choices in turn, of each the better options
        (as the model ranks them) first."""
        asked = self.offer(point).asked
        left = {
            name: [o for o in options if o != point.get(name, options[0])]
            for name, options in asked.items()
        }
        while left:
            for name in list(left):
                options = left[name]
                if not options:
                    del left[name]
                    continue
                option = options.pop(0)
                rest = {k: v for k, v in point.items() if k != name}
                usual = asked[name][0]
                yield name, rest if option == usual else {**rest, name: option}

    def anywhere(self, random: Random) -> Point:
        """A point of which each choice was drawn."""
        point: dict[str, Option] = {}
        for _ in range(3):  # what is asked depends on what was chosen
            asked = self.offer(point).asked
            new = {name: options for name, options in asked.items() if name not in point}
            if not new:
                break
            point |= {name: random.choice(options) for name, options in new.items()}
        return self.offer(point).candidate.point


class Strategy(Protocol):
    """Proposes what to try next. It is asked again after each batch, until it has nothing to propose."""

    name: str

    def propose(self, explored: Explored, tried: Sequence[Trial], count: int) -> list[Candidate]:
        """At most so many candidates that were not tried, or none: then it is done. `tried` are all so
        far, in order."""


def untried(candidates: Sequence[Candidate], tried: Sequence[Trial]) -> list[Candidate]:
    """Those of which no trial is of the same schedule, each once."""
    seen = {t.candidate.key for t in tried}
    found = []
    for c in candidates:
        if c.key not in seen:
            seen.add(c.key)
            found.append(c)
    return found


def measured(tried: Sequence[Trial]) -> list[Trial]:
    """Those with seconds, the quickest first."""
    found = [t for t in tried if t.state is State.MEASURED and t.seconds is not None]
    return sorted(found, key=lambda t: t.seconds or 0.0)
