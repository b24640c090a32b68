"""Moves between the lanes of vector registers, counted in instructions: for each register that is made,
the cheapest that its pattern allows.

A register that another equals costs nothing. Of more than two registers one is added after the other. The
indices of general permutes and the masks of blends are loaded once for each distinct one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.synth.results.cost_table import CostTable, Instruction
from hbc.synth.results.placement import Numbers, Placed
from hbc.synth.results.vector_patterns import FREE, INDEXED, MASKED, ONE, TWO, Pattern, is_blend

GROUP_BITS = 128


@mutable
class _Tally:
    table: CostTable
    bits: int
    counts: Counter[str] = field(default_factory=Counter)
    constants: set[bytes] = field(default_factory=set)

    def constant(self, pattern: str, key: bytes) -> None:
        """An index or a mask, when it is new."""
        loaded = self.table.cheapest(pattern, self.bits)
        if loaded is not None and pattern.encode() + key not in self.constants:
            self.constants.add(pattern.encode() + key)
            self.counts[loaded.name] += 1

    def use(self, made: Instruction, lane: Numbers, source: Numbers) -> None:
        self.counts[made.name] += 1
        if made.pattern in INDEXED:
            second = source == source.max()
            key = np.where(source >= 0, lane + second * lane.size, -1)
            self.constant("index", key.tobytes())
        if made.pattern in MASKED:
            self.constant("mask", np.packbits(source == source.max()).tobytes())


def vector_counts(placed: Placed, table: CostTable, bits: int) -> Counter[str]:
    """The instructions that make all registers of the output."""
    lane, source = native(placed, max(1, table.register_bits // bits))
    tally = _Tally(table, bits)
    group = max(1, GROUP_BITS // bits)
    made: set[bytes] = set()
    for column in range(lane.shape[1]):
        key = lane[:, column].tobytes() + source[:, column].tobytes()
        if key not in made:
            made.add(key)
            make_register(tally, lane[:, column], source[:, column], group)
    return tally.counts


def native(placed: Placed, width: int) -> tuple[Numbers, Numbers]:
    """Lanes and registers where arrays of more lanes than a register has lie in several."""
    lanes, columns = placed.lane.shape
    parts = -(-lanes // width)
    if parts == 1:
        return placed.lane, placed.register
    padded = np.full((parts * width, columns), FREE)
    lane, register = padded.copy(), padded.copy()
    lane[:lanes], register[:lanes] = placed.lane, placed.register
    source = np.where(register >= 0, register * parts + lane // width, register)
    within = np.where(lane >= 0, lane % width, lane)
    split = [part.reshape(parts, width, columns).transpose(1, 0, 2) for part in (within, source)]
    return split[0].reshape(width, -1), split[1].reshape(width, -1)


def make_register(tally: _Tally, lane: Numbers, source: Numbers, group: int) -> None:
    sources = np.unique(source[source >= 0])
    if not sources.size:
        return  # 0, or nothing
    if sources.size == 1:
        _from_one(tally, lane, source, group)
    else:
        _from_two(tally, lane, np.where(np.isin(source, sources[:2]), source, FREE), group)
    for number in sources[2:]:
        # What is there already stays; the lanes of the next register are added to it.
        new = source == number
        kept = (source >= 0) & (source < number)
        added = np.where(new, 1, np.where(kept, 0, FREE))
        _from_two(tally, np.where(new, lane, np.arange(lane.size)), added, group)
    zeros = source == -1
    zeroing = tally.table.cheapest("zeros", tally.bits)
    if zeros.any() and zeroing is not None:
        tally.counts[zeroing.name] += 1
        tally.constant("mask", np.packbits(zeros).tobytes())


def _from_one(tally: _Tally, lane: Numbers, source: Numbers, group: int) -> None:
    if is_blend(lane, source, group):
        return  # the register itself
    made = cheapest(tally, ONE, lane, source, group)
    if made is not None:
        tally.use(made, lane, source)
        return
    pairs = in_pairs(lane, source) if group > 1 else None
    if pairs is not None:
        _from_one(replace(tally, bits=2 * tally.bits), *pairs, group // 2)
    else:
        _by_groups(tally, lane, source, group)


def in_pairs(lane: Numbers, source: Numbers) -> tuple[Numbers, Numbers] | None:
    """The same for elements of twice the width, where these are moved whole."""
    fixed = (source >= 0).reshape(-1, 2)
    right = ~fixed | (lane.reshape(-1, 2) % 2 == [0, 1])
    numbers = np.where(fixed, lane.reshape(-1, 2) // 2, FREE)
    wide = numbers.max(axis=1)
    if not (right & (~fixed | (numbers == wide[:, None]))).all():
        return None
    return wide, source.reshape(-1, 2).max(axis=1)


def _by_groups(tally: _Tally, lane: Numbers, source: Numbers, group: int) -> None:
    """What moves by equally many groups together, then within groups; and such parts blended."""
    own, fixed = np.arange(lane.size), source >= 0
    away = (lane // group - own // group) % (lane.size // group)
    for number, distance in enumerate(np.unique(away[fixed])):
        here = fixed & (away == distance)
        moved = (own + distance * group) % lane.size
        parts = ((moved, source.max()), (own // group * group + lane % group, source.max()))
        for part, register in parts:
            part_source = np.where(here, register, FREE)
            if is_blend(part, part_source, group):
                continue
            made = cheapest(tally, ONE, part, part_source, group)
            if made is None:
                raise InternalError(f"{tally.table.target} cannot move {tally.bits}-bit elements")
            tally.use(made, part, part_source)
        if number:
            _from_two(tally, own, np.where(here, 1, np.where(fixed, 0, FREE)), group)


def _from_two(tally: _Tally, lane: Numbers, source: Numbers, group: int) -> None:
    """By one instruction; where none can, each is brought to its lanes, and both are blended."""
    made = cheapest(tally, TWO, lane, source, group)
    if made is not None:
        tally.use(made, lane, source)
        return
    for number in np.unique(source[source >= 0]):
        _from_one(tally, lane, np.where(source == number, source, FREE), group)
    _from_two(tally, np.arange(lane.size), source, group)


def cheapest(
    tally: _Tally, patterns: Mapping[str, Pattern], lane: Numbers, source: Numbers, group: int
) -> Instruction | None:
    """The instruction of least cost whose pattern fits, its constants included."""
    candidates = [tally.table.cheapest(name, tally.bits) for name in patterns]
    fitting = [
        made
        for made in candidates
        if made is not None and patterns[made.pattern](lane, source, group)
    ]
    return min(fitting, key=lambda made: made.cost + _constant_cost(tally, made), default=None)


def _constant_cost(tally: _Tally, made: Instruction) -> float:
    needed = ["index"] * (made.pattern in INDEXED) + ["mask"] * (made.pattern in MASKED)
    loaded = [tally.table.cheapest(pattern, tally.bits) for pattern in needed]
    return sum(one.cost for one in loaded if one is not None)
