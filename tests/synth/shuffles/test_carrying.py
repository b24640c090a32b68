"""What has to lie in registers that are no outputs: known numbers, and programs of as many."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hbc.cli.proofs.bounds import Counted
from hbc.cli.proofs.statement import ANYTHING, FIRST, read_set
from hbc.cli.sketches.proof_gather import instruction_lines
from hbc.cli.sketches.shuffles import shuffle_machine
from hbc.ir.moves.gather import UNDEFINED
from hbc.ir.moves.instruction_table import Fit
from hbc.ir.moves.register_program import Op, RegisterProgram, executed
from hbc.synth.shuffles.carrying import carrying_bound, direct
from hbc.synth.shuffles.choices import Choosing
from hbc.synth.shuffles.registers import Effort, Solver
from hbc.synth.shuffles.row import Rows
from hbc.synth.shuffles.workshop import Workshop


@cache
def machines(target: str) -> tuple[Choosing, Counted]:
    """As the search has it, and as the checker has, for one source."""
    machine = shuffle_machine(target, False)
    listed = [read_set(line) for line, _ in instruction_lines(target, frozenset(), 8)]
    return machine, Counted(machine.lanes, 1, listed)


def test_channels_apart() -> None:
    """Even and odd f32 of two registers of AVX2: one of either comes straight from a source, by a blend,
    seven others of each lay somewhere before, which are more than one register has."""
    machine, _ = machines("avx2")
    whole = np.arange(64, dtype=np.int32).reshape(-1, 2, 4)
    rows = [whole[:, c].reshape(-1) for c in range(2)]
    everything = np.ones(32, dtype=np.bool_)
    assert [direct(row, everything, machine) for row in rows] == [4, 4]
    assert carrying_bound(rows, [True, True], machine) == 4
    assert carrying_bound(rows, [True, False], machine) == 3
    assert carrying_bound(rows, [False, False], machine) == 2
    # Where half of a register may hold anything, the bytes of the others may lie there.
    free = [np.where(np.arange(32) < 16, row, UNDEFINED).astype(np.int32) for row in rows]
    assert carrying_bound(free, [True, True], machine) == 2


def test_structures_of_three() -> None:
    """Any two registers make any 16 f32 of AVX-512: six of an output come from a source, ten each,
    or sixteen, from others, of which a register holds no two."""
    machine, _ = machines("avx512")
    whole = np.arange(192, dtype=np.int32).reshape(-1, 3, 4)
    rows = [whole[:, c].reshape(-1) for c in range(3)]
    assert carrying_bound(rows, [True] * 3, machine) == 6


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("seed", range(8))
def test_no_program_is_shorter(target: str, seed: int) -> None:
    """Programs of random instructions, the later of which often read what the earlier made: neither the
    search nor the checker asks for more."""
    machine, checked = machines(target)
    rng = np.random.default_rng(seed)
    sources, lanes = int(rng.integers(1, 4)), machine.lanes
    count, kept = ((3, 2), (4, 2), (5, 3), (6, 3))[seed % 4]
    able = [*machine.choosing[2], *machine.choosing[1]]
    ops: list[Op] = []
    for number in range(count):
        form = able[int(rng.integers(len(able)))]
        alternatives = len(next(iter(form.names.values())))
        fit = Fit(form, rng.integers(0, alternatives, lanes // form.per))
        newest = max(0, sources + number - int(rng.integers(1, 4)))
        operands = (newest, *rng.integers(0, sources + number, form.arguments - 1).tolist())
        ops.append(Op(fit, tuple(int(o) for o in rng.permutation(operands))))
    outputs = tuple(range(sources + count - kept, sources + count))
    rows = executed(RegisterProgram(sources, tuple(ops), outputs), lanes)
    rows = np.where(rng.random(rows.shape) < 0.1 * (seed % 3), UNDEFINED, rows).astype(np.int32)
    shop = Rows(Workshop(Solver(machine, lambda: None)._limited(2000), sources))
    made = Solver(machine, Effort(2000, lambda: None)).made(shop, rows, tuple(range(sources)))
    asked = carrying_bound([row for row, _ in made], [takes > 1 for _, takes in made], machine)
    assert asked <= count
    wanted = np.select([rows >= 0, rows == UNDEFINED], [rows + FIRST, ANYTHING], 0)
    assert replace(checked, sources=sources).fewest(wanted, count + 1) <= count
