"""Operands packed lane by lane: what a lane has is a run, and the operand in its order is what was packed."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.cli.instruction_set import instructions_of
from hbc.eqsat.operands.lane_order import lane_order
from hbc.eqsat.tensors.points import Place, Points
from hbc.eqsat.tensors.tensor import Dim, Read
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import F16
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.fragment_layout import elements_of
from hbc.ir.vectors.lane_offsets import constant_lanes

FOUND = [i for i in instructions_of(TARGETS["cuda"]) if i.fragments]
KNOWN = [i for i in FOUND if not i.shared]


def matrix(rows: int, columns: int, moving: bool = True) -> tuple[Read, Points]:
    """A whole matrix, of which all rows are the same unless they are moving."""
    r, c = Dim("r", rows), Dim("c", columns)
    zero = ir.const_index(0)
    places = {r: Place(zero, (1, 0), rows), c: Place(zero, (0, 1), columns)}
    strides = ((r, ir.const_index(columns)), (c, ir.const_index(1)))
    return Read("B", F16, zero, strides if moving else strides[1:]), Points((rows, columns), places)


@pytest.mark.parametrize("i", KNOWN, ids=lambda i: i.name)
@pytest.mark.parametrize("factor", [0, 1])
def test_lane_by_lane(i: Instruction, factor: int) -> None:
    operand = i.factors[factor]
    rows, columns = shape(i, operand, {})
    x, at = matrix(rows, columns)
    order = lane_order(i, operand, x, at)
    assert order is not None
    everything = ir.Ramp(ir.const_index(0), ir.const_index(1), at.lanes)
    load = order.load(ir.Load("P", everything, F16(at.lanes)))
    assert isinstance(load, ir.Load)
    where = constant_lanes(load.index)
    held = elements_of(i, operand)
    assert np.array_equal(np.array(where)[held.ravel()], np.arange(at.lanes))
    made = [0] * at.lanes  # the number of the element that is packed at each place
    steps = {d.name: q.steps for d, q in order.points.places.items()}
    for place, digits in enumerate(np.ndindex(*order.points.extents)):
        r, c = (sum(n * s for n, s in zip(digits, steps[name], strict=True)) for name in "rc")
        made[place] = r * columns + c
    assert made == held.ravel().tolist()


def test_what_is_there_several_times_is_packed_once() -> None:
    rows, columns = shape(KNOWN[0], KNOWN[0].factors[1], {})
    x, at = matrix(rows, columns, moving=False)
    assert lane_order(KNOWN[0], KNOWN[0].factors[1], x, at) is None


def test_what_is_read_from_shared_memory_has_no_lanes() -> None:
    for i in FOUND:
        for operand in i.shared:
            assert lane_order(i, operand, *matrix(*shape(i, operand, {}))) is None
