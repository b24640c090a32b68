"""How few instructions can do: what a checker counts itself, of the listed instructions alone.

A row is an output: for each location the term that is wanted. A source holds `lanes` terms of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import ceil, log2

import numpy as np

from hbc.cli.proofs.statement import ANYTHING, FIRST, NOTHING, ZERO, Gathers, Ints, Statement, need


@dataclass(frozen=True)
class Counted:
    lanes: int
    sources: int
    instructions: list[Gathers]

    def fewest(self, rows: Ints, enough: int) -> int:
        """No program has fewer instructions; more than `enough` is not looked for. Of registers that must
        all differ the first to be complete takes its own fewest, every further one an instruction."""
        different = np.unique(rows, axis=0)
        takes = [self.least(row) for row in different]
        apart: list[int] = []
        for n, row in enumerate(different):
            others = different[apart]
            both = (row != others) & (row != ANYTHING) & (others != ANYTHING)
            if takes[n] and both.any(axis=1).all():
                apart.append(n)
        several = min((takes[n] for n in apart), default=1) + len(apart) - 1
        known = max([0, *takes, several, self.mixing(different)])
        if known >= min(enough, 2 * len(apart)):  # more is not shown by what is carried
            return known
        return max(known, self.carrying(different[apart], [takes[n] > 1 for n in apart]))

    def operands(self, one: Gathers) -> int:
        return one.width // self.lanes

    def units(self, one: Gathers, table: Ints) -> Ints:
        """[unit, element, alternative]: elements that choose together, one behind the other."""
        return table.reshape(int(one.cell[-1]) + 1, -1, table.shape[1])

    def least(self, row: Ints) -> int:
        """So many instructions a register takes at least: none if it is a source, one if one of all makes
        it. One that reads m registers leaves one for them: k sources take one for each m - 1 of k - 1."""
        free = row == ANYTHING
        registers = np.arange(self.sources * self.lanes).reshape(-1, self.lanes) + FIRST
        if (free | (row == registers)).all(axis=1).any():
            return 0
        used = np.unique((row[row >= FIRST] - FIRST) // self.lanes).tolist() or [0]
        most = max(2, *map(self.operands, self.instructions))
        if len(used) > most:
            return -(-(len(used) - 1) // (most - 1))
        for one in self.instructions:
            # Of an operand of which nothing is wanted it does not matter which it is.
            for some in product(used, repeat=self.operands(one)):
                if set(some) == set(used):
                    # Those that are read are followed by no value and 0: -2 and -1.
                    held = np.append(registers[[*some]], [NOTHING, ZERO])
                    right = (held[one.source] == row[:, None]) | free[:, None]
                    if np.any(self.units(one, right).all(axis=1), axis=1).all():
                        return 1
        return 2

    def carrying(self, rows: Ints, long: list[bool]) -> int:
        """So many instructions by what has to lie in registers that are no rows. Each term is followed to one
        row that wants it. A `long` row, which no instruction makes of sources, has from a source beside
        what was made only what an instruction brings to its places at once (`direct`); others lay in what
        was made. There each has its own place: in further registers, or where a row has none of those."""
        if not len(rows) or any(self.operands(one) > 2 for one in self.instructions):
            return 0
        owner = {t: n for n, row in reversed([*enumerate(rows.tolist())]) for t in row}
        mine = [
            np.array([t >= FIRST and owner[t] == n for t in row])
            for n, row in enumerate(rows.tolist())
        ]
        spare = [self.lanes - int(some.sum()) for some in mine]
        takes = [
            (int(some.sum()), int(some.sum()) - self.direct(row, some))
            for row, some, is_long in zip(rows, mine, long, strict=True)
            if is_long
        ]
        if not takes:
            return len(rows)
        # Rows that read a source too have what they need of others in one register; the rest has all in two.
        smallest = max(1, min(few for _, few in takes))
        others, further = sorted(whole - few for whole, few in takes), 0
        while True:
            beside = further * (self.lanes // smallest) + sum(s // smallest for s in spare)
            without = others[: max(0, len(takes) - beside)]
            if sum(few for _, few in takes) + sum(without) <= further * self.lanes + sum(spare):
                return len(rows) + further
            further += 1

    def direct(self, row: Ints, mine: Ints) -> int:
        """At most so much of these of a row an instruction takes from a source that it reads beside what was
        made: in units that read of it only what is right."""
        free, most = (row == ANYTHING)[:, None], 0
        for one in self.instructions:
            for start in (0, self.lanes) if self.operands(one) == 2 else ():
                inside = (one.source >= start) & (one.source < start + self.lanes)
                zero = (one.source == -1) & (row == ZERO)[:, None]
                beside = (one.source >= 0) & ~inside
                for source in np.unique((row[mine] - FIRST) // self.lanes):
                    term = one.source - start + source * self.lanes + FIRST
                    right = inside & (term == row[:, None])
                    fine = self.units(one, right | zero | beside | free).all(axis=1)
                    taken = self.units(one, right & mine[:, None]).sum(axis=1)
                    if np.any(fine, axis=1).all():
                        most = max(most, int(np.where(fine, taken, 0).max(axis=1).sum()))
        return most

    def mixing(self, rows: Ints) -> int:
        """Floyd's bound (1972). `n` terms in one register that one output wants there count n log2 n. What an
        instruction of m operands puts into a register was in m groups before, of each output's: it gains
        log2 m for each. Each term is followed to one output that wants it."""
        most = max(log2(max(1, self.operands(one))) / one.cost for one in self.instructions)
        at = {t: n for n, row in reversed([*enumerate(rows.tolist())]) for t in row if t >= FIRST}
        apart = Counter((n, (t - FIRST) // self.lanes) for t, n in at.items()).values()
        joined = Counter(at.values()).values()
        gain = sum(n * log2(n) for n in joined) - sum(n * log2(n) for n in apart)
        return ceil(gain / (self.lanes * most) - 1e-6) if most else 0


def counted(s: Statement) -> tuple[Counted, Ints, int]:
    """Of sources and then instructions: those that are listed, what outputs want, and what is spent."""
    held = [node.holds for node in s.nodes if node.holds is not None]
    lanes, made = len(held[0]), s.nodes[len(held) :]
    need(all(node.hole and len(node.source) == lanes for node in made), "a node is no instruction")
    terms = np.array(held).reshape(-1)
    need((terms == np.arange(FIRST, FIRST + len(terms))).all(), "its sources are not apart")
    for one in s.sets:
        units = np.arange(lanes) * int(one.cell[-1] + 1) // lanes
        good = not len(one.codes) and one.width % lanes == 0 and len(one.cell) == lanes
        need(good and (one.cell == units).all(), "a set is no instruction")
    wanted = np.array([w for _, w in s.goals])
    return Counted(lanes, len(held), s.sets), wanted, sum(node.set.cost for node in made)
