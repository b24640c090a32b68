"""Transposes and interleaves of whole register files, round by round: butterflies.

Where the bits of an element's new place are those of its old one in another order, a round takes registers in
pairs whose numbers differ in one bit and makes pairs of them: that bit becomes one of the place within a
register, and another one comes out. What a round can do is asked of the instructions, not listed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from hbc.ir.moves.gather import Locations
from hbc.ir.moves.instruction_table import Fit
from hbc.ir.moves.register_program import Op, RegisterProgram, pruned
from hbc.synth.shuffles.choices import Choosing

Step = tuple[
    "Bits", tuple[Fit, ...], int
]  # places after it, its instructions, the bit of registers
Bits = tuple[int, ...]  # for each bit of a place, from the lowest, which bit of the old place it is
MOST_EXTRA = 3  # rounds beyond one for each bit that registers have to give up


def in_rounds(machine: Choosing, sources: int, rows: Locations) -> RegisterProgram | None:
    """The fewest rounds, every register made once in each; None where the rows are no such change."""
    lanes = machine.lanes
    goal = bits_of(rows) if len(rows) == sources else None
    if goal is None or sources == 1:
        return None
    width = lanes.bit_length() - 1
    start = tuple(range(len(goal)))
    wrong = len(set(goal[width:]) - set(start[width:]))
    finder = _Rounds(machine, width, goal)
    for rounds in range(wrong, wrong + MOST_EXTRA + 1):
        finder.seen.clear()
        path = finder.search(start, rounds)
        if path is not None:
            return _program(machine, width, path, goal, sources)
    return None


def bits_of(rows: Locations) -> Bits | None:
    """The permutation of bits that the rows are, or None."""
    flat = rows.reshape(-1)
    size = flat.size
    if size < 2 or size & (size - 1) or flat[0] != 0:
        return None
    permutation = []
    for bit in range(size.bit_length() - 1):
        label = int(flat[1 << bit])
        if label <= 0 or label & (label - 1):
            return None
        permutation.append(label.bit_length() - 1)
    here = np.arange(size)
    wanted = np.zeros(size, dtype=np.int64)
    for bit, source in enumerate(permutation):
        wanted |= (here >> bit & 1) << source
    return tuple(permutation) if np.array_equal(wanted, flat) else None


class _Rounds:
    """Looks for a path of places; a step is the two instructions of a round, for a pair of registers."""

    def __init__(self, machine: Choosing, width: int, goal: Bits) -> None:
        self.machine = machine
        self.width = width
        self.goal = goal
        self.seen: dict[Bits, int] = {}
        self.steps = {step: pair for step in _steps(width) if (pair := _pair(machine, step))}

    def search(self, now: Bits, left: int) -> list[Step] | None:
        """Steps of so many rounds: the places after each, its instructions, and the bit of registers."""
        width, goal = self.width, self.goal
        wrong = set(goal[width:]) - set(now[width:])
        if not wrong and now[:width] == goal[:width]:
            return []
        if len(wrong) > left or left == 0 or self.seen.get(now, -1) >= left:
            return None
        self.seen[now] = left
        self.machine.watch()
        if left == 1 and not wrong:
            alone = self._alone(now)
            if alone is not None:
                return [alone]
        for bit in range(width, len(now)):
            if left == 1:
                last = self._last(now, bit)
                if last is not None:
                    return [last]
                continue
            for step, pair in self.steps.items():
                after = _after(now, step, bit, width)
                path = self.search(after, left - 1)
                if path is not None:
                    return [(after, pair, bit), *path]
        return None

    def _alone(self, now: Bits) -> Step | None:
        """All that is left, within each register by itself."""
        width = self.width
        if set(now[:width]) != set(self.goal[:width]):
            return None
        step = tuple(now.index(source) for source in self.goal[:width])
        here = np.arange(self.machine.lanes, dtype=np.int32)
        fits = self.machine.fitted(_rows((*step, width))[0], here)
        return None if fits is None else ((*self.goal[:width], *now[width:]), (fits,), width)

    def _last(self, now: Bits, bit: int) -> Step | None:
        """All that is left, in one round."""
        width, goal = self.width, self.goal
        out = set(goal[width:]) - set(now[width:])
        if len(out) > 1 or (out and now[bit] in goal[width:]):
            return None
        kept = out.pop() if out else now[bit]
        had = {source: place for place, source in enumerate(now[:width])} | {now[bit]: width}
        if any(source not in had for source in (*goal[:width], kept)):
            return None
        step = tuple(had[source] for source in (*goal[:width], kept))
        pair = _pair(self.machine, step)
        return None if pair is None else (_after(now, step, bit, width), pair, bit)


def _after(now: Bits, step: Bits, bit: int, width: int) -> Bits:
    """A step says for each place in a register, and last for the number of the register, whence it comes."""
    had = (*now[:width], now[bit])
    made = [had[place] for place in step]
    return (*made[:width], *now[width:bit], made[width], *now[bit + 1 :])


def _steps(width: int) -> Iterator[Bits]:
    """Bit q of the place comes out, the register's bit goes in at p, what is between moves along or stays."""
    for p in range(width):
        for q in range(width):
            order = [place for place in range(width) if place != q]
            order.insert(p, width)
            yield (*order, q)
    for p in range(width):
        for q in range(width):
            if p != q:
                swapped = list(range(width))
                swapped[q], swapped[p] = p, width
                yield (*swapped, q)


def _pair(machine: Choosing, step: Bits) -> tuple[Fit, Fit] | None:
    """The instructions that make both registers of a pair."""
    if step not in machine.pairs:
        here = np.arange(2 * machine.lanes, dtype=np.int32)
        fits = [machine.fitted(row, here) for row in _rows(step)]
        low, high = fits
        machine.pairs[step] = None if low is None or high is None else (low, high)
    return machine.pairs[step]


@cache
def _rows(step: Bits) -> Locations:
    width = len(step) - 1
    here = np.arange(2 << width)
    labels = np.zeros(here.size, dtype=np.int32)
    for place, source in enumerate(step):
        labels |= ((here >> place & 1) << source).astype(np.int32)
    return labels.reshape(2, -1)


def _program(
    machine: Choosing, width: int, path: list[Step], goal: Bits,
    sources: int,
) -> RegisterProgram:  # fmt: skip
    ops: list[Op] = []
    values = list(range(sources))
    last: Bits = tuple(range(len(goal)))
    for after, pair, bit in path:
        made = list(values)
        mask = 1 << (bit - width)
        for register in range(sources):
            if len(pair) == 1:
                ops.append(Op(pair[0], (values[register],)))
                made[register] = sources + len(ops) - 1
            elif not register & mask:
                for at, other in enumerate((register, register | mask)):
                    ops.append(Op(pair[at], (values[register], values[register | mask])))
                    made[other] = sources + len(ops) - 1
        values, last = made, after
    # Registers have other names than the goal gives them: the same bits in another order.
    outputs = []
    for register in range(sources):
        number = 0
        for place, source in enumerate(goal[width:]):
            number |= (register >> place & 1) << last[width:].index(source)
        outputs.append(values[number])
    return pruned(RegisterProgram(sources, tuple(ops), tuple(outputs)))
