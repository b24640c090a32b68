"""Instructions that move elements between registers: what each can do, as tables, and which one does
what is wanted.

A row is the content of one register that is wanted of one to four others: for each element a
location in u, or n + a location in v, and so on, or ZERO, or UNDEFINED where anything will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, Locations

Choices = NDArray[np.int64]
OPERANDS = ("u", "v", "w", "x")  # in the code of an instruction


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """An instruction with its immediates fixed. Each `per` neighbouring elements choose an
    alternative together; `names` says what the alternatives are, by the name of the variable, and
    `inverse[i, 2 + location]` which one brings `location` to element i, -1 for none. `spelling` is
    its code: `{u}` to `{x}` are the registers, other braces name a value, how it is written
    before it where it is chosen by elements."""

    spelling: str
    arguments: int
    values: Mapping[str, int]
    cost: int
    per: int
    names: Mapping[str, Choices]
    inverse: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A form that does what was wanted. `chosen[unit]`: the alternative each unit takes."""

    form: Form
    chosen: Choices


@dataclass(frozen=True, slots=True, eq=False)
class InstructionTable:
    """The instructions of a target for registers of `lanes` elements of `bits` bits, the cheapest
    first, those that were written first among equals."""

    name: str
    lanes: int
    bits: int
    forms: tuple[Form, ...]
    _parts: dict[int, Sequence[Form]] = field(default_factory=dict, repr=False)
    _stacks: dict[int, NDArray[np.int32]] = field(default_factory=dict, repr=False)
    _doubled: list[Form] = field(default_factory=list, repr=False)

    def doubled(self) -> Sequence[Form]:
        """The forms of two registers with one register as both."""
        if not self._doubled:
            for form in self.forms_of(2):
                ends, first = form.inverse[:, :2], form.inverse[:, 2 : self.lanes + 2]
                both = np.where(first >= 0, first, form.inverse[:, self.lanes + 2 :])
                inverse = np.concatenate([ends, both], axis=1)
                self._doubled.append(replace(form, inverse=inverse))
        return self._doubled

    @property
    def widest(self) -> int:
        """How many registers an instruction reads at most."""
        return max((form.arguments for form in self.forms), default=1)

    def forms_of(self, arguments: int) -> Sequence[Form]:
        if arguments not in self._parts:
            self._parts[arguments] = [f for f in self.forms if f.arguments == arguments]
        return self._parts[arguments]

    def stack(self, arguments: int) -> NDArray[np.int32]:
        """The inverses of all forms of so many arguments."""
        if arguments not in self._stacks:
            self._stacks[arguments] = np.stack([f.inverse for f in self.forms_of(arguments)])
        return self._stacks[arguments]


def fit(form: Form, wanted: Locations) -> Fit | None:
    """How the form makes the row, or None."""
    chosen = choose(form, wanted[None])[0]
    return None if chosen[0] < 0 else Fit(form, np.maximum(chosen, 0))


def choose(form: Form, rows: Locations) -> Choices:
    """[row, unit]: the alternatives; -1 everywhere in rows that the form cannot make."""
    lanes = rows.shape[1]
    alternatives = form.inverse[np.arange(lanes), rows + 2].astype(np.int64)
    free = rows == UNDEFINED
    units = np.where(free, -1, alternatives).reshape(len(rows), -1, form.per)
    chosen: Choices = units.max(
        axis=2, initial=0
    )  # a unit of which nothing is wanted takes the first
    wrong = ~free & (alternatives != np.repeat(chosen, form.per, axis=1))
    chosen[wrong.any(axis=1)] = -1
    return chosen


def fitting(table: InstructionTable, arguments: int, wanted: Locations) -> Fit | None:
    """The cheapest instruction that makes the row of so many registers, or None."""
    forms = table.forms_of(arguments)
    if not forms:
        return None
    # What brings each element what it wants, whatever its neighbours choose.
    brings = table.stack(arguments)[:, np.arange(wanted.size), wanted + 2] >= 0
    for number in np.flatnonzero((brings | (wanted == UNDEFINED)).all(axis=1)):
        candidate = fit(forms[int(number)], wanted)
        if candidate is not None:
            return candidate
    return None


def fitting_doubled(table: InstructionTable, wanted: Locations, below: int) -> Fit | None:
    """The cheapest instruction of two registers that makes the row of one register as both, for less
    than `below`."""
    if not any(form.cost < below for form in table.forms_of(2)):
        return None
    candidates = (fit(form, wanted) for form in table.doubled() if form.cost < below)
    return next((one for one in candidates if one is not None), None)


def fittable(table: InstructionTable, arguments: int, rows: Locations) -> NDArray[np.bool_]:
    """Which rows some instruction makes."""
    good = np.zeros(len(rows), dtype=np.bool_)
    for form in sorted(table.forms_of(arguments), key=lambda form: -form.inverse.size // form.per):
        left = np.flatnonzero(~good)
        if not left.size:
            break
        # Most are refused by their first elements.
        for probe in range(0, rows.shape[1], max(1, rows.shape[1] // 4)):
            there = rows[left, probe]
            left = left[(there == UNDEFINED) | (form.inverse[probe, there + 2] >= 0)]
        if left.size:
            good[left] = choose(form, rows[left])[:, 0] >= 0
    return good
