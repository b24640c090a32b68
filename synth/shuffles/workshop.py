"""The values that a search has made so far: each register is known byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np

from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit
from hbc.ir.moves.register_program import Op, RegisterProgram, made
from hbc.synth.shuffles.choices import Choosing

Key = tuple[int, bytes, tuple[int, ...]]


@mutable
class Workshop:
    """Values are numbered: the source registers first, then what was made of them. `contents[value]` has a
    label for each byte: `source * lanes + lane`, ZERO or UNDEFINED."""

    machine: Choosing
    sources: int
    contents: list[Locations] = field(default_factory=list)
    fits: list[Fit | None] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    _known: dict[Key, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        lanes = self.machine.lanes
        for source in range(self.sources):
            self.contents.append(np.arange(lanes, dtype=np.int32) + source * lanes)
            self.fits.append(None)
            self.operands.append(())

    def value(self, fit: Fit, operands: tuple[int, ...]) -> int:
        """The number of what an instruction makes, the same for the same instruction."""
        key = (id(fit.form), fit.chosen.tobytes(), operands)
        if key not in self._known:
            self._known[key] = len(self.contents)
            self.contents.append(made(fit, [self.contents[o] for o in operands]))
            self.fits.append(fit)
            self.operands.append(operands)
        return self._known[key]

    def cone(self, values: Iterable[int]) -> set[int]:
        """The instructions that the values need."""
        needed: set[int] = set()
        left = list(values)
        while left:
            value = left.pop()
            if value >= self.sources and value not in needed:
                needed.add(value)
                left.extend(self.operands[value])
        return needed

    def cost(self, *values: int) -> int:
        return sum(self.costs(value) for value in self.cone(values))

    def costs(self, value: int) -> int:
        fit = self.fits[value]
        return 0 if fit is None else fit.form.cost

    def holds(self, value: int, row: Locations) -> bool:
        """Whether the value is what a row wants."""
        return bool(((row == UNDEFINED) | (row == self.contents[value])).all())

    def local(self, row: Locations, operands: Sequence[int]) -> Locations | None:
        """Where the row's bytes lie in the operands behind each other, in place where they do; None
        where one of them lies in none."""
        lanes = self.machine.lanes
        both = np.concatenate([self.contents[o] for o in operands])
        where = np.full(self.sources * lanes + 2, -3, dtype=np.int32)
        where[both[::-1]] = np.arange(both.size - 1, -1, -1, dtype=np.int32)
        where[ZERO], where[UNDEFINED] = ZERO, UNDEFINED
        locations: Locations = where[row]
        if (locations == -3).any():
            return None
        for at in range(len(operands)):
            part = both[at * lanes : (at + 1) * lanes]
            same = (row >= 0) & (part == row)
            locations[same] = np.flatnonzero(same) + at * lanes
        return locations

    def program(self, outputs: Sequence[int]) -> RegisterProgram:
        """The instructions that some values need."""
        values = sorted(self.cone(outputs))
        renamed = {source: source for source in range(self.sources)}
        ops: list[Op] = []
        for value in values:
            fit = self.fits[value]
            assert fit is not None
            ops.append(Op(fit, tuple(renamed[o] for o in self.operands[value])))
            renamed[value] = self.sources + len(ops) - 1
        return RegisterProgram(self.sources, tuple(ops), tuple(renamed[o] for o in outputs))

    def replay(self, program: RegisterProgram, sources: Sequence[int]) -> list[int]:
        """The values that a program makes of some values."""
        values = list(sources)
        for op in program.ops:
            values.append(self.value(op.fit, tuple(values[o] for o in op.operands)))
        return [values[o] for o in program.outputs]
