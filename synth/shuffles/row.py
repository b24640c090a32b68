"""One register of more than two instructions: the last one is taken off in the ways that its operands allow,
what it then wants is laid out so that earlier ones can reach it, and so on.

What comes out is right, and no promise that it is the shortest: `two.py` and the bounds say what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit, Form
from hbc.synth.shuffles.layouts import laid_out, split_rows
from hbc.synth.shuffles.two import holding, labels_of, one, ready, two
from hbc.synth.shuffles.workshop import Workshop

Basis = tuple[int, ...]
DEEPEST = 9  # instructions taken off one after the other


@mutable
class Rows:
    """Makes rows; what is known of a row of a basis is kept."""

    shop: Workshop
    found: dict[tuple[bytes, Basis], int] = field(default_factory=dict)
    tried: dict[tuple[bytes, Basis], int] = field(default_factory=dict)  # in vain
    inner: dict[int, Rows] = field(default_factory=dict)  # of single values
    proven: dict[tuple[bytes, Basis], int] = field(default_factory=dict)  # at least so many

    def make(self, row: Locations, basis: Basis, budget: int = DEEPEST) -> int | None:
        """The value of the fewest instructions that was found, of at most `budget`."""
        shop = self.shop
        value = ready(shop, row, basis)
        if value is not None or budget <= 0:
            return value
        needed = labels_of(row)
        basis = tuple(v for v in basis if np.isin(shop.contents[v], needed).any()) or basis[:1]
        key = row.tobytes(), basis
        if key in self.found:
            known = self.found[key]
            return known if shop.cost(known) <= budget else None
        for allowed in range(self.tried.get(key, 0) + 1, budget + 1):
            shop.machine.watch()
            value = self._make(row, basis, allowed)
            if value is not None:
                self.found[key] = value
                return value if shop.cost(value) <= budget else None
            self.tried[key] = allowed
        return None

    def least(self, row: Locations, basis: Basis) -> int:
        """No program makes the row of the basis by fewer instructions, as far as was looked."""
        return self.proven.get((row.tobytes(), basis), 0)

    def _make(self, row: Locations, basis: Basis, budget: int) -> int | None:
        """By exactly so many."""
        shop = self.shop
        key = row.tobytes(), basis
        known = self.proven.setdefault(key, max(1, self.fewest(row, basis)))
        if known > budget:
            return None
        if budget == 1:
            value = one(shop, row, basis)
            if value is None:
                self.proven[key] = max(2, known)
            return value
        if budget == 2:
            value, certain = two(shop, row, basis)
            if value is None and certain:
                self.proven[key] = max(3, known)
            if value is not None or shop.machine.widest == 2:
                return value
            return self._gathered(row, basis, budget)
        for candidate in self._longer(row, basis, budget):
            if candidate is not None and shop.cost(candidate) <= budget:
                return candidate
        return None

    def fewest(self, row: Locations, basis: Basis) -> int:
        """An instruction that reads m registers leaves one for them, so that k of them take one for each
        m - 1 of k - 1: of those that alone have a byte."""
        needed = labels_of(row)
        having = np.stack([np.isin(needed, self.shop.contents[value]) for value in basis])
        alone = having[:, having.sum(axis=0) == 1].any(axis=1)
        return max(1, -(-(int(alone.sum()) - 1) // (self.shop.machine.widest - 1)))

    def _gathered(self, row: Locations, basis: Basis, budget: int) -> int | None:
        """Where instructions read more than two registers: what is wanted of some in one first, of so many
        that the later ones read as many as they can."""
        shop, most = self.shop, self.shop.machine.widest
        if len(basis) <= most:
            return None
        some = basis[: (len(basis) - 2) % (most - 1) + 2]
        held = [np.intersect1d(labels_of(row), shop.contents[value]) for value in some]
        together = np.full(row.size, UNDEFINED, dtype=np.int32)
        wanted = np.unique(np.concatenate(held))
        together[: wanted.size] = wanted
        value = one(shop, together, some)
        if value is None:
            return None
        left = (value, *basis[len(some) :])
        asked = shop.local(row, left)
        assert asked is not None
        inner = Rows(Workshop(shop.machine, len(left)))
        made = inner.make(asked, tuple(range(len(left))), budget - shop.cost(value))
        return None if made is None else shop.replay(inner.shop.program([made]), left)[0]

    def _longer(self, row: Locations, basis: Basis, budget: int) -> Iterator[int | None]:
        if self.shop.machine.widest > 2:
            yield self._gathered(row, basis, budget)
        yield from self._collected(row, basis, budget)
        if budget == 3:
            yield from self._last_fixed(row, basis)
        yield from self._last_of_one(row, basis, budget)
        yield from self._last_of_two(row, basis, budget)
        if (row == ZERO).any():
            inner = self.make(
                np.where(row == ZERO, UNDEFINED, row).astype(np.int32), basis, budget - 1
            )
            if inner is not None:
                yield one(self.shop, row, (inner,))

    def _collected(self, row: Locations, basis: Basis, budget: int) -> Iterator[int | None]:
        """All bytes in one register first, then moved within that."""
        if len(basis) < 2:
            return
        blended = self._blended(row, basis)
        if blended is not None:
            yield self._within(row, blended, budget - self.shop.cost(blended))
        if len(basis) > 2:
            return
        fixed = self.shop.machine.fixed[2]
        needed = labels_of(row)
        for pair in (basis, basis[::-1]):
            contents = np.concatenate([self.shop.contents[value] for value in pair])
            held = np.append(contents, [UNDEFINED, ZERO])[fixed.rows] if fixed.forms else fixed.rows
            for number in holding(held, needed):
                value = self.shop.value(fixed.fit(int(number)), pair)
                yield self._within(row, value, budget - 1)

    def _within(self, row: Locations, value: int, budget: int) -> int | None:
        """The row made of one value, as if it were a source."""
        asked = self.shop.local(row, (value,))
        if asked is None or budget < 1:
            return None
        if value not in self.inner:
            self.inner[value] = Rows(Workshop(self.shop.machine, 1))
        inner = self.inner[value]
        made = inner.make(asked, (0,), budget)
        if made is None:
            return None
        return self.shop.replay(inner.shop.program([made]), [value])[0]

    def _blended(self, row: Locations, basis: Basis) -> int | None:
        """The bytes of the row, each where it is in its own register."""
        shop, lanes = self.shop, self.shop.machine.lanes
        whole = np.full(lanes, UNDEFINED, dtype=np.int32)
        left = labels_of(row)
        value: int | None = None
        for other in basis:
            at = np.flatnonzero(np.isin(shop.contents[other], left))
            if (whole[at] != UNDEFINED).any():
                return None
            whole[at] = shop.contents[other][at]
            left = np.setdiff1d(left, whole[at])
            value = other if value is None else one(shop, whole, (value, other))
            if value is None:
                return None
        return value

    def _last_of_one(self, row: Locations, basis: Basis, budget: int) -> Iterator[int | None]:
        """The last instruction moves the bytes of one register."""
        shop = self.shop
        for form in shop.machine.choosing[1]:
            classes = shop.machine.classes(form, 0)
            if classes is None:  # it only chooses whether to read
                continue
            zeros = (row == ZERO) & (form.inverse[:, 1] >= 0)
            rest = np.where(zeros, UNDEFINED, row).astype(np.int32)
            for asked in laid_out(rest, classes, form.per, shop.machine.block, shop.machine.watch):
                if (asked == row).all():
                    continue
                inner = self.make(asked, basis, budget - 1)
                if inner is not None:
                    yield one(shop, row, (inner,))

    def _last_of_two(self, row: Locations, basis: Basis, budget: int) -> Iterator[int | None]:
        """The last instruction takes some of the bytes from each of two registers."""
        shop, lanes = self.shop, self.shop.machine.lanes
        for part in split_rows(row, lanes, shop.machine.block, len(basis)):
            first = np.where(part, row, UNDEFINED).astype(np.int32)
            second = np.where(part, UNDEFINED, row).astype(np.int32)
            for form in shop.machine.choosing[2]:
                for asked in self._operand(form, first, 0):
                    before = self.make(asked, basis, budget - 1)
                    if before is None:
                        continue
                    left = budget - shop.cost(before) - 1
                    for other in self._operand(form, second, lanes):
                        after = self.make(other, basis, left)
                        if after is not None:
                            yield one(shop, row, (before, after))

    def _last_fixed(self, row: Locations, basis: Basis) -> Iterator[int | None]:
        """The last instruction leaves no choice, so that what it wants of both operands is known, and each
        is made by one more."""
        shop, lanes = self.shop, self.shop.machine.lanes
        fixed = shop.machine.fixed[2]
        for number, form in enumerate(fixed.forms):
            asked = np.full(2 * lanes, UNDEFINED, dtype=np.int32)
            source = fixed.rows[number]
            cared = (row != UNDEFINED) & (source >= 0)
            asked[source[cared]] = row[cared]
            there = np.append(asked, [UNDEFINED, ZERO])[source]
            if ((there != row) & (row != UNDEFINED)).any():
                continue
            operands: list[int] = []
            for part in (asked[:lanes], asked[lanes:]):
                value = ready(shop, part, basis)
                value = one(shop, part, basis) if value is None else value
                if value is None:
                    break
                operands.append(value)
            else:
                shop.machine.watch()
                yield shop.value(
                    Fit(form, np.zeros(lanes // form.per, dtype=np.int64)), tuple(operands)
                )

    def _operand(self, form: Form, part: Locations, start: int) -> Iterator[Locations]:
        """What an operand may hold, so that the instruction brings its bytes to their places."""
        yield part
        classes = self.shop.machine.classes(form, start)
        if classes is not None:
            yield from laid_out(
                part, classes, form.per, self.shop.machine.block, self.shop.machine.watch
            )
