"""A table of instructions as a search needs it: those whose bytes choose, and those that are fixed, without
such as others do too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit, Form, InstructionTable, choose

NOWHERE = -3
BLOCK_BITS = 128  # what most instructions move within


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """Instructions of so many registers that leave no choice: `rows[k]` is what `forms[k]` reads."""

    forms: tuple[Form, ...]
    rows: NDArray[np.int32]

    def fit(self, number: int) -> Fit:
        form = self.forms[number]
        return Fit(form, np.zeros(len(form.inverse) // form.per, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Choosing:
    """`table` has everything, for code; `choosing` and `fixed`, by the number of operands, what a search
    has to look at: whatever the rest makes, one of these makes as well. `watch` raises when time is over."""

    table: InstructionTable
    choosing: dict[int, tuple[Form, ...]]
    fixed: dict[int, Fixed]
    watch: Callable[[], None] = lambda: None
    pairs: dict[tuple[int, ...], tuple[Fit, Fit] | None] = field(default_factory=dict, repr=False)
    _sources: dict[int, NDArray[np.int32]] = field(default_factory=dict, repr=False)
    _classes: dict[tuple[int, int], NDArray[np.int64] | None] = field(
        default_factory=dict, repr=False
    )

    @property
    def lanes(self) -> int:
        return self.table.lanes

    @property
    def block(self) -> int:
        """So many elements most instructions move within."""
        return BLOCK_BITS // self.table.bits

    @property
    def widest(self) -> int:
        """How many registers an instruction reads at most."""
        return max(self.choosing)

    def sources(self, form: Form) -> NDArray[np.int32]:
        """[byte, alternative]: the location that is read; NOWHERE for one that a cheaper one equals."""
        if id(form) not in self._sources:
            count = int(form.inverse.max()) + 1
            locations = np.full((len(form.inverse), max(1, count)), NOWHERE, dtype=np.int32)
            element, location = np.nonzero(form.inverse >= 0)
            locations[element, form.inverse[element, location]] = location - 2
            self._sources[id(form)] = locations
        return self._sources[id(form)]

    def chosen(self, form: Form, row: Locations, contents: Locations) -> Fit | None:
        """How the form makes a row of labels of what its operands hold, wherever that lies."""
        held = np.append(contents, [NOWHERE, UNDEFINED, ZERO])
        right = (held[self.sources(form)] == row[:, None]) | (row == UNDEFINED)[:, None]
        units = right.reshape(-1, form.per, right.shape[1]).all(axis=1)
        if not units.any(axis=1).all():
            return None
        return Fit(form, units.argmax(axis=1).astype(np.int64))

    def fitted(self, row: Locations, contents: Locations) -> Fit | None:
        """How some instruction makes a row of labels of what its operands hold."""
        count = contents.size // self.lanes
        for form in self.choosing[count]:
            fit = self.chosen(form, row, contents)
            if fit is not None:
                return fit
        fixed = self.fixed[count]
        if not fixed.forms:
            return None
        held = np.append(contents, [NOWHERE, UNDEFINED, ZERO])[fixed.rows]
        right = np.flatnonzero(((held == row) | (row == UNDEFINED)).all(axis=1))
        return fixed.fit(int(right[0])) if right.size else None

    def classes(self, form: Form, start: int) -> NDArray[np.int64] | None:
        """For each byte of the result a number, the same for units that can read the same of the operand
        whose locations begin at `start`; None where some can read nothing of it or only one place."""
        key = id(form), start
        if key not in self._classes:
            reach = form.inverse[:, 2 + start : 2 + start + self.lanes] >= 0
            groups = reach.reshape(-1, form.per, self.lanes // form.per, form.per)
            units: NDArray[np.bool_] = np.asarray(groups.any(axis=(1, 3)))
            _, numbers = np.unique(units, axis=0, return_inverse=True)
            wide = np.repeat(numbers.reshape(-1).astype(np.int64), form.per)
            self._classes[key] = (
                wide if units.any(axis=1).all() and units.sum() > len(units) else None
            )
        return self._classes[key]


def choosing(table: InstructionTable, watch: Callable[[], None] = lambda: None) -> Choosing:
    """The table, with what is needless for a search left out of it."""
    able: dict[int, tuple[Form, ...]] = {}
    fixed: dict[int, Fixed] = {}
    for count in range(1, max(2, table.widest) + 1):
        forms = [form for form in table.forms_of(count) if form.names]
        kept: list[Form] = []
        for at, form in enumerate(forms):
            others = [*kept, *forms[at + 1 :]]
            if not any(covers(other, form) for other in others):
                kept.append(form)
        able[count] = tuple(kept)
        fixed[count] = _fixed(table.forms_of(count), kept)
    return Choosing(table, able, fixed, watch)


def covers(form: Form, other: Form) -> bool:
    """Whether whatever `other` makes of its operands `form` makes of them."""
    if other.per % form.per or ((other.inverse >= 0) & (form.inverse < 0)).any():
        return False
    if other.cost < form.cost:
        return False
    lanes = len(form.inverse)
    for alternative in range(int(other.inverse.max()) + 1):
        hits = other.inverse == alternative
        source = np.where(hits.any(axis=1), hits.argmax(axis=1), 0)
        taken = form.inverse[np.arange(lanes), source].reshape(-1, form.per)
        here = hits.any(axis=1).reshape(-1, form.per)
        low = np.where(here, taken, np.iinfo(np.int32).max).min(axis=1)
        high = np.where(here, taken, -1).max(axis=1)
        if ((high >= 0) & (low != high)).any():
            return False
    return True


def _fixed(forms: Sequence[Form], able: Sequence[Form]) -> Fixed:
    """Those that none of the forms that choose can make, each once."""
    kept: dict[bytes, tuple[Form, Locations]] = {}
    alone = [form for form in forms if not form.names]
    if not alone:
        return Fixed((), np.zeros((0, 0), dtype=np.int32))
    hits = np.stack([form.inverse for form in alone]) >= 0
    rows = np.where(hits.any(axis=2), hits.argmax(axis=2) - 2, UNDEFINED).astype(np.int32)
    needless = np.zeros(len(rows), dtype=np.bool_)
    for form in able:
        needless |= choose(form, rows)[:, 0] >= 0
    for form, row in zip(alone, rows[:], strict=True):
        kept.setdefault(row.tobytes(), (form, row))
    needed = [(f, r) for f, r in kept.values() if not needless[alone.index(f)]]
    if not needed:
        return Fixed((), np.zeros((0, rows.shape[1]), dtype=np.int32))
    return Fixed(tuple(f for f, _ in needed), np.stack([r for _, r in needed]))
