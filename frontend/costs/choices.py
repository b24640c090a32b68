"""The choices that a schedule is made of: each is asked by name, and answered as is usual unless a point
says otherwise. What was asked spans the space that `hbc tune` searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from hbc.ir.ground.record import mutable

Option = None | bool | int | str | Sequence["Option"]  # as JSON has them
Point = Mapping[str, Option]
T = TypeVar("T", bound=Option)
W = TypeVar("W")
SHOWN = 12  # options of a choice among many


@mutable
class Choices:
    """`point`: what is wanted of some choices. `asked`: the options of each that was made, the usual one
    first, the others as the model ranks them."""

    point: Point = field(default_factory=dict)
    asked: dict[str, tuple[Option, ...]] = field(default_factory=dict)

    def pick(self, name: str, usual: T, others: Sequence[T] = ()) -> T:
        """The option that the point wants of this choice, if there is such; else the usual one."""
        options = [usual, *(o for o in others if o != usual)]
        if len(options) > 1:
            self.asked[name] = tuple(as_json(o) for o in options)
            if name in self.point:
                wanted = as_json(self.point[name])
                return next((o for o in options if as_json(o) == wanted), usual)
        return usual

    def effective(self) -> dict[str, Option]:
        """What the point says of choices that were made, and not as is usual."""
        changed: dict[str, Option] = {}
        for name, options in self.asked.items():
            if name in self.point:
                wanted = as_json(self.point[name])
                if wanted in options[1:]:
                    changed[name] = wanted
        return changed


def as_json(option: Option) -> Option:
    """Lists are tuples, so that options of either form are equal."""
    if isinstance(option, Sequence) and not isinstance(option, str):
        return tuple(as_json(o) for o in option)
    return option


def picked(choices: Choices, name: str, ways: Sequence[W], said: Callable[[W], Option]) -> W | None:
    """The way that is wanted, of many that a model ranks; None where there is none. `said`: a way as JSON has
    it. The first few are options."""
    if not ways:
        return None
    by_option = {said(way): way for way in reversed(ways[:SHOWN])}
    return by_option[choices.pick(name, said(ways[0]), [said(w) for w in ways[1:SHOWN]])]
