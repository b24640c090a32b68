"""Programs for all output registers together: the best of several ways, and what is proven of the count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import UNDEFINED, Locations
from hbc.ir.moves.register_program import Op, RegisterProgram, does, pruned, then
from hbc.synth.prunings.watch import Stopped
from hbc.synth.shuffles.carrying import carrying_bound
from hbc.synth.shuffles.choices import Choosing
from hbc.synth.shuffles.cones import fused
from hbc.synth.shuffles.mixing import mixing_bound
from hbc.synth.shuffles.rounds import in_rounds
from hbc.synth.shuffles.row import DEEPEST, Rows
from hbc.synth.shuffles.stages import (
    Stages,
    blocks_first,
    blocks_last,
    grouped_first,
    spread_first,
)
from hbc.synth.shuffles.workshop import Workshop

STAGES = (blocks_first, blocks_last, spread_first, grouped_first)
NESTED = 2  # stages of stages
ROUNDS = 40_000  # places that are looked at: a second and a half at most
EFFORT = 3000  # layouts and pairs of instructions that are looked at for a component: a second


class Tired(Exception):
    """So much has been looked at; what was found counts."""


@mutable
class Effort:
    """Counts what is looked at, so that the same question has the same answer on any machine; `check` raises
    Stopped when the time that the user gave is over."""

    most: int
    check: Callable[[], None]
    used: int = 0

    def __call__(self) -> None:
        self.used += 1
        if self.used > self.most:
            raise Tired
        try:
            self.check()
        except Stopped:
            raise Tired from None


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """No program has fewer than `bound` instructions; None was found where `program` is. `whole`: how many
    registers are made, of which no two can be one, that want bytes of sources everywhere."""

    program: RegisterProgram | None
    bound: int
    whole: int = 0


@mutable
class Solver:
    """`known`: what was found for a component, which often occurs several times."""

    machine: Choosing
    check: Callable[[], None]
    effort: int = EFFORT
    known: dict[tuple[int, bytes], Solved] = field(default_factory=dict)

    def solve(self, sources: int, rows: Locations) -> Solved:
        """A program for the rows, or only how few instructions cannot do. Registers of which nothing but
        zeros is wanted are components of their own, made once."""
        ops: list[Op] = []
        made: dict[tuple[int, tuple[int, ...]], int] = {}
        outputs = [-1] * len(rows)
        parts: list[Solved] = []
        for some, members in components(rows, self.machine.lanes):
            local = renumbered(rows[members], some, self.machine.lanes)
            key = len(some), local.tobytes()
            if key not in self.known:
                complete = all(part.program is not None for part in parts)
                self.known[key] = self._component(len(some), local, complete)
            solved = self.known[key]
            parts.append(solved)
            if solved.program is None:
                continue
            values = list(some)
            for op in solved.program.ops:
                operands = tuple(values[o] for o in op.operands)
                value = made.setdefault((id(op.fit), operands), sources + len(ops))
                if value == sources + len(ops):
                    ops.append(Op(op.fit, operands))
                values.append(value)
            for member, value in zip(members, solved.program.outputs, strict=True):
                outputs[member] = values[value]
        program = RegisterProgram(sources, tuple(ops), tuple(outputs))
        complete = all(part.program is not None for part in parts)
        bound = max(together(parts), self.mixing(rows))
        return Solved(program if complete else None, bound)

    def mixing(self, rows: Locations) -> int:
        """Instructions that it takes to bring together what the rows want."""
        return mixing_bound(rows, {(f.arguments, f.cost) for f in self.machine.table.forms})

    def _component(self, sources: int, rows: Locations, wanted: bool) -> Solved:
        """Where no program is wanted, for there is none of another component: the bound alone."""
        alone = Rows(Workshop(self._limited(self.effort), sources))
        basis = tuple(range(sources))
        made = self.made(alone, rows, basis)
        bound = max(least(made), self.mixing(rows))
        whole = sum(bool((row >= 0).all()) for row, _ in made)
        if bound < 2 * len(made):  # more is not shown by what is carried
            long = [takes > 1 for _, takes in made]
            bound = max(bound, carrying_bound([row for row, _ in made], long, self.machine))
        if not wanted:
            return Solved(None, bound, whole)
        best = self.alone(alone, rows, basis, None, 2)
        if len(rows) > 1 and (best is None or best.cost > bound):
            best = cheaper(best, self.quick(sources, rows, NESTED))
        if best is None or best.cost > bound:
            most = self.effort if best is None else self.effort // 4
            alone.shop.machine = self._limited(most)
            best = cheaper(best, self.alone(alone, rows, basis, best))
        if best is None:
            return Solved(None, bound, whole)
        assert does(best, rows)
        return Solved(best, min(bound, best.cost), whole)

    def _limited(self, most: int) -> Choosing:
        """Registers of more elements take longer to look at."""
        most = most * self.machine.table.bits**2 // 64
        return replace(self.machine, watch=Effort(most, self.check))

    def quick(self, sources: int, rows: Locations, nested: int) -> RegisterProgram | None:
        """Rounds and stages, whose parts are smaller."""
        best: RegisterProgram | None = None
        with suppress(Tired):
            best = in_rounds(self._limited(ROUNDS), sources, rows)
        if best is not None and self.machine.widest > 2:
            best = fused(best, rows, self.machine)
        if nested == 0:
            return best
        for stages in self._staged(rows):
            first = self.part(sources, stages[0], nested - 1)
            if first is None or (best is not None and first.cost >= best.cost):
                continue
            second = self.part(len(stages[0]), stages[1], nested - 1)
            if second is not None:
                joined = then(first, second)
                if does(joined, rows):
                    best = cheaper(best, joined)
        return best

    def part(self, sources: int, rows: Locations, nested: int) -> RegisterProgram | None:
        """Of a stage: each register by itself where that is quick, else stages again."""
        alone = Rows(Workshop(self._limited(self.effort // 16), sources))
        program = self.alone(alone, rows, tuple(range(sources)), None, 3)
        return cheaper(program, self.quick(sources, rows, nested)) if nested else program

    def _staged(self, rows: Locations) -> Iterator[Stages]:
        size = self.machine.block
        for make in STAGES if rows.shape[1] >= size else ():  # which divide registers into blocks
            for first, second in make(rows, size):
                if not np.array_equal(second, rows):
                    yield first, second

    def alone(
        self, alone: Rows, rows: Locations, basis: tuple[int, ...], best: RegisterProgram | None,
        deepest: int = DEEPEST,
    ) -> RegisterProgram | None:  # fmt: skip
        """Every register by itself; what is made twice is made once."""
        values: list[int] = []
        try:
            for row in rows:
                value = alone.make(row, basis, deepest)
                if value is None:
                    return None
                values.append(value)
                if best is not None and alone.shop.cost(*values) >= best.cost:
                    return None
        except Tired:
            return None
        return pruned(alone.shop.program(values))

    def made(
        self, alone: Rows, rows: Locations, basis: tuple[int, ...]
    ) -> list[tuple[Locations, int]]:
        """Registers that are made, no two of which can be one, each with the fewest that it takes alone."""
        found: list[tuple[Locations, int]] = []
        try:
            for row in np.unique(rows, axis=0):
                if any(alone.shop.holds(value, row) for value in basis):
                    continue
                if any(
                    ((row == o) | (row == UNDEFINED) | (o == UNDEFINED)).all() for o, _ in found
                ):
                    continue
                alone.make(row, basis, 2)
                takes = max(1, alone.fewest(row, basis), alone.least(row, basis))
                found.append((row, takes))
        except Tired:
            pass
        return found


def least(made: Sequence[tuple[Locations, int]]) -> int:
    """The first register that is complete takes its own fewest, every further one an instruction."""
    takes = [fewest for _, fewest in made]
    return max([0, *takes, min(takes, default=1) + len(takes) - 1])


def together(parts: Sequence[Solved]) -> int:
    """Components have no byte in common, but an instruction may serve two of them: it moves bytes of both.
    What one takes by itself has no whole register of another in it, which holds nothing for it."""
    whole = sum(part.whole for part in parts)
    return max((part.bound + whole - part.whole for part in parts), default=0)


def cheaper(one: RegisterProgram | None, other: RegisterProgram | None) -> RegisterProgram | None:
    """The one with fewer instructions, the first among equals."""
    if one is None or other is None:
        return one or other
    return other if other.cost < one.cost else one


def components(rows: Locations, lanes: int) -> Iterator[tuple[list[int], list[int]]]:
    """Sources and outputs that have nothing to do with the others."""
    left = [(set((row[row >= 0] // lanes).tolist()), number) for number, row in enumerate(rows)]
    while left:
        some, number = left.pop(0)
        members = [number]
        grown = True
        while grown:
            near = [one for one in left if one[0] & some]
            grown = bool(near)
            for sources, other in near:
                some |= sources
                members.append(other)
            left = [one for one in left if one not in near]
        yield sorted(some) or [0], sorted(members)


def renumbered(rows: Locations, sources: list[int], lanes: int) -> Locations:
    """With the sources numbered from 0."""
    where = np.zeros(max(sources) + 1, dtype=np.int32)
    where[sources] = np.arange(len(sources))
    kept = np.maximum(rows, 0)
    return np.where(rows >= 0, where[kept // lanes] * lanes + kept % lanes, rows).astype(np.int32)
