"""Every instruction is executed for real and must do what its description says, bit for bit.

The C is made from the `emit` of the descriptions. Operands are full-range: random bits, special values
(NaN, infinities, subnormals, the extremes of integers), sums that cancel, overflow and underflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from isa_machines import DESCRIBED, MACHINES, Machine, lacking, program, tools_lacking
from isa_values import REGIMES, differences, operands

from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import GPU
from hbc.ir.meaning.contraction import corners, largest
from hbc.ir.meaning.instruction_semantics import execute
from hbc.ir.meaning.numpy_types import Array

CASES = [(m, i) for m in MACHINES for i in m.instructions]


def inner_sizes(i: Instruction) -> dict[str, int]:
    """Sizes that are neither least nor largest."""
    return {s.name: s.step * max(1, s.most // s.step * 5 // 8) for s in i.sizes}


_BY_NAME = {i.name: i for _, i in CASES}


@cache  # machines that execute the instruction are given the same
def described(
    name: str, sizes: tuple[tuple[str, int], ...], regimes: tuple[str, ...], trials: int
) -> tuple[list[dict[str, Array]], list[Array]]:
    """Operands, `trials` times for each regime, and what the description makes of them."""
    i = _BY_NAME[name]
    random = np.random.default_rng([ord(c) for c in name])
    drawn = [operands(i, dict(sizes), r, random) for r in regimes for _ in range(trials)]
    return drawn, [execute(i, given, dict(sizes)) for given in drawn]


def agree(
    machine: Machine, i: Instruction, sizes: Mapping[str, int], regimes: Sequence[str], trials: int
) -> None:
    """Executes the instruction `trials` times for each regime of operands."""
    drawn, wanted = described(i.name, tuple(sizes.items()), tuple(regimes), trials)
    for n, got in enumerate(program(machine).run(i, sizes, drawn)):
        wrong = differences(got, wanted[n])
        where = f"{i.name}, {regimes[n // trials]}, {dict(sizes)}"
        assert not wrong, f"{where}:\n" + "\n".join(wrong[:8])


@pytest.mark.parametrize(("machine", "i"), CASES, ids=lambda x: getattr(x, "name", None))
def test_does_what_is_described(machine: Machine, i: Instruction) -> None:
    reason = tools_lacking(machine) or lacking(machine, i)
    if reason:
        pytest.skip(reason)
    agree(machine, i, largest(i), REGIMES, 8 if i.sizes else 100)
    for sizes in (*corners(i.sizes), inner_sizes(i)) if i.sizes else ():
        agree(machine, i, sizes, ("mixed",), 3)


def test_templates_that_cannot_run_here_compile() -> None:
    """Of instructions that this processor lacks."""
    for machine in MACHINES:
        if tools_lacking(machine) is None and any(
            lacking(machine, i) for i in machine.instructions
        ):
            assert program(machine, runs_here=False).path.exists()


def test_every_instruction_has_a_machine() -> None:
    """tests/codegen/cuda executes those of GPUs."""
    others = {i.name for i in DESCRIBED.instructions if i.place.machine != GPU}
    assert {i.name for _, i in CASES} == others
