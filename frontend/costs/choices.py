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
M = TypeVar("M")
Answer = tuple[str, tuple[Option, ...], Option]
"""Of a choice, its options, the usual first, and what was taken."""
SHOWN = 12  # options of a choice among many


@mutable
class Choices:
    """`point`: what is wanted of some choices. `asked`: the options of each that was made, the usual one
    first, the others as the model ranks them. `answers`: all that were made, in order."""

    point: Point = field(default_factory=dict)
    asked: dict[str, tuple[Option, ...]] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)

    def pick(self, name: str, usual: T, others: Sequence[T] = ()) -> T:
        """The option that the point wants of this choice, if there is such; else the usual one."""
        options = [usual, *(o for o in others if o != usual)]
        if len(options) == 1:
            return usual
        said = tuple(as_json(o) for o in options)
        answer = self._answer(name, said)
        self.asked[name] = said
        self.answers.append((name, said, answer))
        return options[said.index(answer)]

    def _answer(self, name: str, options: tuple[Option, ...]) -> Option:
        wanted = as_json(self.point[name]) if name in self.point else options[0]
        return wanted if wanted in options else options[0]

    def once(self, known: list[tuple[list[Answer], M]], make: Callable[[Choices], M]) -> M:
        """What `make` makes with these choices: as it was made before, where all that it asks for is answered
        as it was then. `known`: what was made of the same otherwise."""
        found = next((each for each in known if self._agrees(each[0])), None)
        if found is None:
            inside = Choices(self.point)
            made = make(inside)
            found = inside.answers, made
            known.append(found)
        answers, made = found
        self.asked.update({name: options for name, options, _ in answers})
        self.answers += answers
        return made

    def _agrees(self, answers: list[Answer]) -> bool:
        return all(self._answer(name, options) == answer for name, options, answer in answers)

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
