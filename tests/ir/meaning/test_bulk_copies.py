"""Copies in bulk in the interpreter: what they copy, and who waits for which turn."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import Var, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.types import I32
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.interp_buffers import InterpError
from hbc.ir.meaning.verify import verify

ROWS, COLUMNS, APART, SLOT = 5, 7, 9, 12
A = np.random.default_rng(5).integers(-(1 << 31), 1 << 31, (ROWS, APART)).astype(np.int32)


def copy(slot: int = 0, row: int = 0, column: int = 0) -> str:
    """A box of 3 x 4 of A to a slot of `s`."""
    return (
        f"bulk copy s[{SLOT * slot}] = A.i32 at [{row}, {column}] needed [3, 4] of [M, N] "
        "by [A_stride0, 1] box [3, 4]"
    )


def group(slot: int = 0, row: int = 0, column: int = 0) -> str:
    return f"bulk to t[{slot}] {{ {copy(slot, row, column)} }}"


def read(slot: int = 0, to: int = 0) -> str:
    at = f"x + {SLOT * slot}"
    return f"for x from 0 count {SLOT} {{ C[x + {to}] = s.i32[{at}] }}"


def result(*steps: str) -> list[int]:
    """What the steps leave of C, with `s` in shared memory and the signal `t`, both of two slots."""
    inside = "\n".join(steps)
    body = (
        f"allocate t: i64[2] in signals {{ allocate s: i32[{2 * SLOT}] in shared {{ {inside} }} }}"
    )
    arguments = (
        Argument("A", I32, (Var("M"), Var("N")), False),
        Argument("C", I32, (const_index(2 * SLOT),), True),
    )
    kernel = Kernel("k", (Size("M"), Size("N")), arguments, (), (), read_stmt(body))
    verify(kernel, "barriers")
    out = np.full(2 * SLOT, -1, np.int32)
    run(kernel, {"M": ROWS, "N": COLUMNS}, {"A": A[:, :COLUMNS], "C": out})
    return [int(x) for x in out]


def box(row: int, column: int) -> list[int]:
    """From the definition, element by element."""
    whole = [
        int(A[i, j]) if 0 <= i < ROWS and 0 <= j < COLUMNS else 0
        for i in range(row, row + 3)
        for j in range(column, column + 4)
    ]
    assert len(whole) == SLOT
    return whole


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 2), (3, 5), (4, 6), (5, 0), (-1, -2)])
def test_copies_a_box_and_zeros_beyond_the_array(row: int, column: int) -> None:
    steps = (group(0, row, column), "bulk wait t[0] turn 0", read())
    assert result(*steps)[:SLOT] == box(row, column)


def test_alone_a_copy_is_there_at_once() -> None:
    assert result(copy(1, 1, 3), read(1))[:SLOT] == box(1, 3)


def test_slots_have_turns_of_their_own() -> None:
    first = (group(0, 0, 0), group(1, 2, 1), "bulk wait t[0] turn 0", read(0))
    again = (
        group(0, 1, 1),
        "bulk wait t[1] turn 0",
        read(1, SLOT),
        "bulk wait t[0] turn 1",
        read(0),
    )
    assert result(*first, *again) == box(1, 1) + box(2, 1)


WRONG = {
    "no wait": (group(), read()),
    "a wait for another slot": (group(), group(1), "bulk wait t[1] turn 0", read()),
    "a wait for the turn before": (
        group(), "bulk wait t[0] turn 0", group(0, 1, 1), "bulk wait t[0] turn 0", read(),
    ),
    "a turn that nobody begins": (group(), "bulk wait t[0] turn 1", read()),
    "a turn before the last is over": (group(), group(0, 1, 1), "bulk wait t[0] turn 1", read()),
    "no such slot": (group(2),),
}  # fmt: skip


@pytest.mark.parametrize("steps", WRONG.values(), ids=WRONG)
def test_refuses(steps: tuple[str, ...]) -> None:
    with pytest.raises(InterpError):
        result(*steps)
