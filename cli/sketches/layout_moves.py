"""The cheapest instructions for a layout change: sketches of more and more stages, until one has a solution.

This is what asks for data movement by name: `hbc synth --spec`, and whoever packs operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from hbc.cli.files.read_sketch import SHIPPED, importer
from hbc.cli.sketches.program_moves import as_movement, program_of
from hbc.cli.sketches.synth_code import moves_table, printer_of
from hbc.codegen.moves.plan import BLOCK_BITS, plan_registers
from hbc.frontend.sketch.layout_spec import (
    LayoutSpec,
    function_name,
    input_names,
    output_names,
    sketch_text,
)
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.source import Source
from hbc.ir.moves.gather import UNDEFINED, Gather
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.layout_change import is_change
from hbc.ir.moves.movement import Input, Made, Moved, Movement, Output, as_gather

if TYPE_CHECKING:
    from hbc.synth.prunings.watch import Watch
    from hbc.synth.results.solve import Outcome

MOST_REGISTERS = 16


@dataclass(frozen=True, slots=True)
class Tried:
    """A number of stages for which all candidates were searched, or the search was stopped."""

    stages: int
    solutions: int
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """`instructions` between loads and stores. `tried`: what the search says of each number of stages;
    empty where every register is planned by itself. `least`: no program has fewer, because so many
    registers are made that were not there. `alone`: no program has fewer in which every instruction
    works for one register of the output; `shared`: some work for several."""

    spec: LayoutSpec
    movement: Movement
    instructions: int
    least: int
    alone: int
    tried: tuple[Tried, ...]
    shared: bool = False

    @property
    def minimal(self) -> bool:
        """Whether it is proven that fewer instructions do not do, in the sense of `facts`."""
        fewer = [tried for tried in self.tried if not tried.solutions]
        searched = bool(self.tried) and all(tried.complete for tried in fewer)
        by_itself = not self.tried and self.instructions == self.alone
        return self.instructions == self.least or searched or by_itself

    @property
    def facts(self) -> list[str]:
        """What was found and what is proven, in sentences."""
        said = [f"{self.spec.title}: {counted(self.instructions, 'instruction')}"]
        if self.instructions == self.least:
            return [*said, "as few as there are registers to be made"]
        if self.tried and self.tried[0].stages > 1:
            fewest = 2 ** (self.tried[0].stages - 1)
            said.append(f"some register has elements of more than {fewest} others: so many stages")
        for tried in self.tried:
            stages = f"{tried.stages} stage{'s' * (tried.stages > 1)}"
            if tried.solutions:
                said.append(f"{stages} of one instruction for each register: found")
            elif tried.complete:
                said.append(f"{stages}: none, all candidates searched")
            else:
                said.append(f"{stages}: none found in the time given")
        if self.shared:
            said.append("registers share what is made for them")
        elif not any(tried.solutions for tried in self.tried):
            said.append(f"every register made by itself, which takes {self.alone} or more")
        return said


def cheapest_moves(
    spec: LayoutSpec, target: str, vbmi: bool, make_watch: Callable[[], Watch]
) -> Moves:
    """The instructions for one block of the change on a target of `PRINTERS` that has `moves`."""
    table = moves_table(target, spec.dtype.bits, vbmi)
    assert table is not None
    movement = directly(spec)
    best = planned(spec, table)
    least = made_registers(spec, table)
    tried: list[Tried] = []
    count = spec.change.size // table.lanes
    if stageable(spec, table):
        # Each stage at most doubles the registers that one depends on.
        stages = max(1, most_sources(spec, table) - 1).bit_length()
        while stages * count < best:
            text = sketch_text(spec, table.lanes, stages, printer_of(target).moves, vbmi)
            outcome, solution = first_solution(text, table, make_watch())
            is_solved = solution is not None
            tried.append(Tried(stages, int(is_solved), outcome.complete))
            if solution is not None:
                movement, best = solution
                break
            stages += 1
    shared = None
    if best > least and not any(t.solutions for t in tried) and is_of_words(spec, table):
        each = _register_rows(spec, table)
        every = np.concatenate([rows for _, rows in each])
        shared = program_of(every, each[0][0], table, make_watch().check)
        if shared is not None and shared.cost < best:
            movement, best = as_movement(spec, shared, table.lanes), shared.cost
    movement = Movement(function_name(spec), movement.inputs, movement.steps, movement.outputs)
    moved = as_gather(movement)
    if moved is None or not is_change(moved, spec.change):
        raise InternalError(f"the moves found for {spec.title} do something else")
    is_shared = shared is not None and best == shared.cost
    return Moves(spec, movement, best, least, made_alone(spec, table), tuple(tried), is_shared)


def is_of_words(spec: LayoutSpec, table: InstructionTable) -> bool:
    """Whether arrays are whole registers of a scalar machine: its programs are printed as movements."""
    return table.lanes * table.bits < BLOCK_BITS and fills_registers(spec, table)


def first_solution(
    text: str, table: InstructionTable, watch: Watch
) -> tuple[Outcome, tuple[Movement, int] | None]:
    """The completion of a sketch of stages that takes the fewest cycles, and its instructions."""
    from hbc.frontend.sketch.elaborate import load_sketch
    from hbc.synth.results.code import movement
    from hbc.synth.results.cost import make_pricing
    from hbc.synth.results.cost_table import cost_table
    from hbc.synth.results.register_count import instructions
    from hbc.synth.results.solve import solve
    from hbc.synth.search.switches import Switches

    sketch = load_sketch(Source("--spec", text), {}, importer(SHIPPED))
    outcome = solve(sketch, Switches(), watch)
    if not outcome.fragments:
        return outcome, None
    solution = next(outcome.solutions(make_pricing(outcome.problem, cost_table(table.name))))
    chosen = outcome.chosen(solution).values()
    count = sum(instructions(gather, table.lanes) for gather in chosen)
    return outcome, (movement(outcome, solution), count)


def stageable(spec: LayoutSpec, table: InstructionTable) -> bool:
    """Whether all arrays fill registers, whose number is a power of two that sketches can have."""
    count = spec.change.size // table.lanes
    return (
        fills_registers(spec, table) and 2 <= count <= MOST_REGISTERS and count & (count - 1) == 0
    )


def fills_registers(spec: LayoutSpec, table: InstructionTable) -> bool:
    """Whether all arrays are whole registers."""
    return all(prod(s) % table.lanes == 0 for s in (*spec.change.inputs, *spec.change.outputs))


def directly(spec: LayoutSpec) -> Movement:
    """One gather, whose registers are planned one after the other."""
    change = spec.change
    names = input_names(change)
    inputs = tuple(Input(n, s) for n, s in zip(names, change.inputs, strict=True))
    gather = Gather(change.inputs, (change.size,), change.gather.index)
    steps: list[Made] = []
    start = 0
    for name, shape in zip(output_names(change), change.outputs, strict=True):
        index = gather.index[start : start + prod(shape)]
        steps.append(Moved(name, tuple(names), Gather(change.inputs, shape, index), True))
        start += prod(shape)
    outputs = tuple(Output(s.name, np.ones(prod(s.shape), dtype=np.bool_)) for s in steps)
    return Movement("", inputs, tuple(steps), outputs)


def planned(spec: LayoutSpec, table: InstructionTable) -> int:
    """The instructions of `directly`."""
    return sum(
        plan_registers(table, count, rows).cost for count, rows in _register_rows(spec, table)
    )


def made_registers(spec: LayoutSpec, table: InstructionTable) -> int:
    """The output registers that are no input register."""
    from hbc.synth.results.register_count import instructions

    return sum(
        instructions(Gather(((count, table.lanes),), rows.shape, rows.reshape(-1)), table.lanes)
        for count, rows in _register_rows(spec, table)
    )


def made_alone(spec: LayoutSpec, table: InstructionTable) -> int:
    """A register with elements of k others takes k - 1 instructions, for each reads two at most."""
    more = sum(max(0, count - 2) for count in _sources(spec, table))
    return made_registers(spec, table) + more


def most_sources(spec: LayoutSpec, table: InstructionTable) -> int:
    """Of how many input registers an output register has elements, at most."""
    return max(_sources(spec, table))


def _sources(spec: LayoutSpec, table: InstructionTable) -> list[int]:
    return [
        np.unique(row[row >= 0] // table.lanes).size
        for _, rows in _register_rows(spec, table)
        for row in rows
    ]


def _register_rows(spec: LayoutSpec, table: InstructionTable) -> list[tuple[int, np.ndarray]]:
    """For each output the number of input registers and what its registers hold of them."""
    lanes, change = table.lanes, spec.change
    places: list[np.ndarray] = []
    first = 0
    for shape in change.inputs:
        places.append(np.arange(prod(shape), dtype=np.int32) + first * lanes)
        first += -(-prod(shape) // lanes)
    source = np.concatenate(places)
    rows_of_outputs: list[tuple[int, np.ndarray]] = []
    start = 0
    for shape in change.outputs:
        size = prod(shape)
        rows = np.full(-(-size // lanes) * lanes, UNDEFINED, dtype=np.int32)
        rows[:size] = source[change.gather.index[start : start + size]]
        rows_of_outputs.append((first, rows.reshape(-1, lanes)))
        start += size
    return rows_of_outputs
