"""Programs of registers for any gather: what `hbc synth --spec` asks for, and whoever moves elements."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from hbc.cli.files.read_sketch import SHIPPED, importer
from hbc.cli.files.read_source import read_source, source_name
from hbc.codegen.moves.plan import NOTHING, plan_registers
from hbc.ir.ground.source import Source
from hbc.ir.moves.gather import UNDEFINED, Gather, Locations
from hbc.ir.moves.instruction_table import Form, fitting
from hbc.ir.moves.layout_change import LayoutChange
from hbc.ir.moves.register_program import Op, RegisterProgram, does, pruned, respelled
from hbc.ir.moves.sketch import Option, SetDefinition
from hbc.synth.shuffles.choices import Choosing, choosing

# target -> the file under `isa/` that describes its instructions, and the bytes of a register
FILES = {
    "avx512": ("avx512_shuffles.sf", 64),
    "avx2": ("avx2_shuffles.sf", 32),
    "neon": ("neon_moves.sf", 16),
    "sve256": ("sve_moves.sf", 32),
}
BITS = {"avx512": "avx512_bits.sf", "avx2": "avx2_bits.sf", "neon": "neon_bits.sf"}  # below bytes
SLOWER = 2.0  # than the first a register may be planned
MOST_LEFT = 0.75  # of the time that is left to plan registers in


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle:
    """A program that does a gather; none has fewer instructions than `bound`."""

    program: RegisterProgram
    bound: int

    @property
    def minimal(self) -> bool:
        return self.program.cost == self.bound


def shuffle_machine(target: str, vbmi: bool, grain: int = 8, gfni: bool = False) -> Choosing:
    """The instructions of a target that move bytes, or elements of `grain` bits (1, 4)."""
    from hbc.synth.sets.instructions import instruction_table

    definitions, constants = shuffle_sets(target, vbmi, grain, gfni)
    lanes = FILES[target][1] * 8 // grain
    return choosing(instruction_table(target, definitions, constants, lanes, grain))


def description_of(target: str, grain: int) -> str:
    """The file that describes them. KeyError where elements below bytes are not moved."""
    return FILES[target][0] if grain == 8 else BITS[target]


def shuffle_sets(
    target: str, vbmi: bool, grain: int = 8, gfni: bool = False
) -> tuple[Mapping[str, SetDefinition], Mapping[str, Option]]:
    """Their descriptions, and the parameters of those."""
    from hbc.frontend.sketch.elaborate import load_sets

    features = {"vbmi": vbmi, "gfni": gfni}
    settings = {"bits": str(grain)} | {name: "1" for name, there in features.items() if there}
    file = SHIPPED / description_of(target, grain)
    source = Source(source_name(file), read_source(file))
    return load_sets(source, settings, importer(SHIPPED))


def find_shuffle(
    gather: Gather, size: int, machine: Choosing, check: Callable[[], None],
    deadline: float | None = None,
) -> Shuffle | None:  # fmt: skip
    """The program of fewest instructions that was found for elements of `size` of what the machine moves.
    `check` ends the search by Stopped. Where that found none, registers are planned one by one, for which
    time is left before the `deadline` of `check` (seconds of the monotonic clock); None where that does not
    suffice."""
    rows = byte_rows(gather, size, machine.lanes)
    count = -(-int(np.prod(gather.inputs[0])) * size // machine.lanes)
    return _solved(count, rows, machine, check, deadline)


def change_shuffle(
    change: LayoutChange, size: int, machine: Choosing, check: Callable[[], None],
    deadline: float | None = None,
) -> Shuffle | None:  # fmt: skip
    """The same for all arrays of a layout change, each of which begins a register."""
    lanes = machine.lanes
    places: list[Locations] = []
    count = 0
    for shape in change.inputs:
        places.append(np.arange(prod(shape) * size, dtype=np.int32) + count * lanes)
        count += -(-prod(shape) * size // lanes)
    source = np.concatenate(places).reshape(-1, size)
    rows: list[Locations] = []
    start = 0
    for shape in change.outputs:
        wanted = source[change.gather.index[start : start + prod(shape)]].reshape(-1)
        row = np.full(-(-wanted.size // lanes) * lanes, UNDEFINED, dtype=np.int32)
        row[: wanted.size] = wanted
        rows.append(row.reshape(-1, lanes))
        start += prod(shape)
    return _solved(count, np.concatenate(rows), machine, check, deadline)


def _solved(
    count: int, rows: Locations, machine: Choosing, check: Callable[[], None],
    deadline: float | None,
) -> Shuffle | None:  # fmt: skip
    from hbc.synth.prunings.watch import Stopped
    from hbc.synth.shuffles.registers import Solver

    sooner = check if deadline is None else _leaving_time(deadline, check, count, rows, machine)
    solved = Solver(machine, sooner).solve(count, rows)
    if solved.program is not None:
        program = _lighter(respelled(solved.program, rows, machine.table), count, rows, machine)
        assert does(program, rows)
        return Shuffle(program, solved.bound)
    try:
        program = planned(machine, count, rows, check)
    except Stopped:
        return None
    return Shuffle(program, min(solved.bound, program.cost))


def _leaving_time(
    deadline: float, check: Callable[[], None], count: int, rows: Locations, machine: Choosing
) -> Callable[[], None]:
    """A check that ends the search while there is time to plan all registers: as long for each as for one."""
    from hbc.synth.prunings.watch import Stopped

    began = time.monotonic()
    with suppress(Stopped):
        planned(machine, count, rows[:1], check)
    now = time.monotonic()
    needed = SLOWER * len(rows) * (now - began)
    end = deadline - min(needed, MOST_LEFT * (deadline - now))

    def sooner() -> None:
        check()
        if time.monotonic() > end:
            raise Stopped("timeout")

    return sooner


def _lighter(
    program: RegisterProgram, count: int, rows: Locations, machine: Choosing
) -> RegisterProgram:
    """The same in rounds of instructions without registers of constants, where that takes no more of them."""
    from hbc.synth.shuffles.rounds import bits_of, in_rounds

    if not any(map(needs_constants, (op.fit.form for op in program.ops))) or bits_of(rows) is None:
        return program
    plain = in_rounds(
        only(machine, [f for f in machine.table.forms if not needs_constants(f)]), count, rows
    )
    return program if plain is None or plain.cost > program.cost else plain


def only(machine: Choosing, forms: Iterable[Form]) -> Choosing:
    """The machine with these of its instructions."""
    return choosing(replace(machine.table, forms=tuple(forms), _parts={}, _stacks={}, _doubled=[]))


def needs_constants(form: Form) -> bool:
    """Whether its code reads a register of constants."""
    return any(word in form.spelling for word in ("{vector", "{bytes", "{signs", "{lanes"))


def byte_rows(gather: Gather, size: int, lanes: int) -> Locations:
    """[register, byte]: which byte of the sources is wanted there; or nibble, or bit."""
    index = gather.index[:, None]
    whole = np.where(index >= 0, index * size + np.arange(size), index).reshape(-1)
    rows = np.full(-(-whole.size // lanes) * lanes, UNDEFINED, dtype=np.int32)
    rows[: whole.size] = whole
    return rows.reshape(-1, lanes)


def planned(
    machine: Choosing, sources: int, rows: Locations, check: Callable[[], None]
) -> RegisterProgram:
    """Register by register, one source after the other: nothing is looked for."""
    if machine.table.bits < 8:
        from hbc.synth.prunings.watch import Stopped
        from hbc.synth.shuffles.below_bytes import planned_below_bytes

        found = planned_below_bytes(machine, sources, rows, check)
        if found is None:
            raise Stopped("plan")
        assert does(found, rows)
        return found
    plan = plan_registers(machine.table, sources, rows, check=check)
    ops = [Op(op.fit, op.operands) for op in plan.ops]
    outputs = list(plan.outputs)
    for register, value in enumerate(outputs):
        if value == NOTHING:
            zeros = fitting(machine.table, 1, rows[register])
            assert zeros is not None
            outputs[register] = sources + len(ops)
            ops.append(Op(zeros, (0,)))
    program = pruned(RegisterProgram(sources, tuple(ops), tuple(outputs)))
    assert does(program, rows)
    return program
