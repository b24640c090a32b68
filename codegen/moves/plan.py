"""Plans a gather between registers: the instructions that make every register of the output.

Cheapest where one instruction does it. Otherwise registers are made from one source after the other;
what one instruction cannot bring from a single source goes in parts that move equally far in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Fit, InstructionTable, fitting, fitting_doubled

NOTHING = -1  # the value of a register of which nothing is wanted, or only zeros
BLOCK_BITS = 128  # what most instructions of vectors move within


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One instruction. Values are numbered: the source registers first, then the ops in order."""

    fit: Fit
    operands: tuple[int, ...]


@mutable
class Plan:
    """`outputs` names the value of each output register. `firsts`: values that were the first of two
    operands, which many instructions overwrite: another time that takes a copy."""

    table: InstructionTable
    sources: int
    ops: list[Op] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    firsts: set[int] = field(default_factory=set)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict, repr=False)

    @property
    def cost(self) -> int:
        return sum(op.fit.form.cost for op in self.ops)

    def copy(self) -> Plan:
        return Plan(
            self.table, self.sources, [*self.ops], [*self.outputs], {*self.firsts}, {**self._known}
        )

    def value(self, fit: Fit, operands: tuple[int, ...]) -> int:
        """The number of an op's result, the same for the same op."""
        form = fit.form
        key = (form.spelling, tuple(form.values.items()), fit.chosen.tobytes(), operands)
        if key not in self._known:
            self._known[key] = self.sources + len(self.ops)
            self.ops.append(Op(fit, operands))
            if len(operands) == 2:
                self.firsts.add(operands[0])
        return self._known[key]


def plan_registers(
    table: InstructionTable, sources: int, rows: Locations, firsts: Iterable[int] = (),
    check: Callable[[], None] = lambda: None,
) -> Plan:  # fmt: skip
    """rows[register, lane]: `source * lanes + lane` of what is wanted there, ZERO or UNDEFINED.
    `firsts`: the sources that were first operands already, elsewhere. `check` is called before each
    register, and may raise."""
    plan = Plan(table, sources, firsts=set(firsts))
    for row in rows:
        check()
        merged, blended = plan.copy(), plan.copy()
        value = make(merged, row)
        first = _blended_first(blended, row)
        if first is not None and blended.cost < merged.cost:
            merged, value = blended, first
        plan = merged
        plan.outputs.append(value)
    return plan


def make(plan: Plan, row: Locations) -> int:
    """The value that holds the row."""
    lanes = plan.table.lanes
    registers = [int(r) for r in np.unique(row[row >= 0] // lanes)]
    if not registers:
        return NOTHING
    local = np.where(row >= 0, row % lanes, row)
    if len(registers) == 1 and _in_place(local):
        return registers[0]
    fresh = next((at for at, r in enumerate(registers) if r not in plan.firsts), 0)
    registers = registers[fresh:] + registers[:fresh]
    number = _one_instruction(plan, row, registers)
    if number is not None:
        return number
    if (row == ZERO).any():
        inner = make(plan, np.where(row == ZERO, UNDEFINED, row))
        kept = np.where(row >= 0, np.arange(lanes), np.where(row == ZERO, ZERO, UNDEFINED))
        return _must(plan, kept, (inner,))
    if len(registers) == 1:
        return _by_blocks(plan, row, registers[0])
    last = registers[-1]
    return _merged(plan, row, row // lanes == last)


def _in_place(local: Locations) -> bool:
    return bool(((local == np.arange(local.size)) | (local == UNDEFINED)).all())


def _one_instruction(plan: Plan, row: Locations, registers: list[int]) -> int | None:
    """Of one or two registers, in either order."""
    if len(registers) > 2:
        return None
    lanes = plan.table.lanes
    candidates: list[tuple[int, Fit, tuple[int, ...]]] = []
    for operands in {tuple(registers): None, tuple(registers[::-1]): None}:
        local = row.copy()
        for place, register in enumerate(operands):
            here = (row >= 0) & (row // lanes == register)
            local[here] = row[here] % lanes + place * lanes
        fits = fitting(plan.table, len(operands), local)
        if fits is not None:
            candidates.append((plan.table.forms.index(fits.form), fits, operands))
    if not candidates:
        return None
    _, fits, operands = min(candidates, key=lambda one: one[0])
    if len(registers) == 1:
        local = np.where(row >= 0, row % lanes, row)
        doubled = fitting_doubled(plan.table, local, fits.form.cost)
        if doubled is not None:
            return plan.value(doubled, operands * 2)
    return plan.value(fits, operands)


def _must(plan: Plan, local: Locations, operands: tuple[int, ...]) -> int:
    """By the one instruction that every table has for this."""
    fit = fitting(plan.table, len(operands), local)
    if fit is None:
        raise InternalError(f"the table {plan.table.name} has no instruction for {local.tolist()}")
    return plan.value(fit, operands)


def _merged(plan: Plan, row: Locations, later: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """The rest first; then what is `later`, with the rest by one instruction where there is one."""
    lanes = plan.table.lanes
    here = np.arange(lanes, dtype=np.int32)
    rest = make(plan, np.where(later, UNDEFINED, row).astype(np.int32))
    sources = np.unique(row[later] // lanes)
    if sources.size == 1:
        both = np.where(row < 0, row, np.where(later, row % lanes + lanes, here))
        direct = fitting(plan.table, 2, both)
        if direct is not None:
            return plan.value(direct, (rest, int(sources[0])))
    other = make(plan, np.where(later, row, UNDEFINED).astype(np.int32))
    blended = np.where(row < 0, row, np.where(later, here + lanes, here))
    return _must(plan, blended, (rest, other))


def _blended_first(plan: Plan, row: Locations) -> int | None:
    """All sources blended in place, then one permute: where no two elements that are wanted have the
    same lane, as those of every third element."""
    lanes = plan.table.lanes
    here = np.arange(lanes, dtype=np.int32)
    wanted = row[row >= 0]
    registers = np.unique(wanted // lanes)
    if registers.size < 2 or (row == ZERO).any() or np.unique(wanted % lanes).size < wanted.size:
        return None
    whole = int(registers[0])
    taken = np.zeros(lanes, dtype=np.bool_)
    taken[wanted[wanted // lanes == whole] % lanes] = True
    for register in registers[1:]:
        added = np.zeros(lanes, dtype=np.bool_)
        added[wanted[wanted // lanes == register] % lanes] = True
        both = np.where(added, here + lanes, np.where(taken, here, UNDEFINED))
        whole = _must(plan, both.astype(np.int32), (whole, int(register)))
        taken |= added
    local = np.where(row >= 0, row % lanes, row).astype(np.int32)
    if _in_place(local):
        return whole
    fit = fitting(plan.table, 1, local)
    return None if fit is None else plan.value(fit, (whole,))


def _by_blocks(plan: Plan, row: Locations, register: int) -> int:
    """From one register, where no instruction does it: whole blocks are moved, then elements within
    their blocks."""
    lanes = plan.table.lanes
    block = min(lanes, BLOCK_BITS // plan.table.bits)
    blocks = lanes // block
    local = row - register * lanes
    element = np.arange(lanes, dtype=np.int32)
    distance = np.where(row >= 0, (local // block - element // block) % blocks, 0)
    distances = np.unique(distance[row >= 0])
    if distances.size > 1:
        return _merged(plan, row, (row >= 0) & (distance == distances[-1]))
    moved = (element // block + int(distances[0])) % blocks * block + element % block
    whole = make(plan, (moved + register * lanes).astype(np.int32))
    within = np.where(row >= 0, element // block * block + local % block, UNDEFINED)
    return _must(plan, within, (whole,))
