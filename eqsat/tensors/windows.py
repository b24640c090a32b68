"""Operands that lie close together: a register holds all that the lanes want, and one shuffle sorts it.

The windows of a convolution overlap. With 16 outputs and pairs of taps, lane i wants elements i and i + 1
of the 17 from x + 2t on:

    I[ramp(ramp(x + 2 * t, 1, 2), x2(1), 16)]

With stride 3 they are in the 47 from 3 * x on, in two registers, and one shuffle picks from both.
That is no banded matrix, no product is wasted, and 16 outputs further the same window serves the tap
16 before: `meeting` says after how many steps of a sum that is, so that they stand side by side.
"""

from __future__ import annotations

from hbc.eqsat.tensors.plan import Part, Plan
from hbc.eqsat.tensors.tensor import Dim, Masked, Read, Tensor
from hbc.ir.algebra.layout import Layout
from hbc.ir.lang.build import const_value

REGISTERS = (128, 256, 512)  # bits
MOST_TOGETHER = 4  # more need more registers


def is_window(flat: Layout, bits: int, most: int = 1) -> bool:
    """Whether a full register of elements of so many bits is to be found in as many adjacent ones, or
    in `most` registers."""
    return 0 < window(flat, bits) <= most


def window(flat: Layout, bits: int) -> int:
    """In how many registers of adjacent elements a full one is to be found, of those that one shuffle
    picks from: the largest are picked from two, other than by bytes. 0 where there are more."""
    if flat.lanes * bits not in REGISTERS:
        return 0
    steps = [const_value(s) for _, s in flat.dims]
    span = 1
    for (n, _), step in zip(flat.dims, steps, strict=True):
        if step is None:
            return 0
        span += (n - 1) * abs(int(step))
    most = 2 if bits >= 16 and flat.lanes * bits == max(REGISTERS) else 1
    needed = -(-span // flat.lanes)
    return needed if needed <= most else 0


def shuffles(bits: int, lanes: int) -> int:
    """How many bring elements of so many bits to any places in a register: bytes do not cross 128
    bits alone."""
    return 1 if bits >= 16 or bits * lanes == 128 else 2


def meeting(x: Tensor, plan: Plan, operand: int) -> tuple[Part, int] | None:
    """A summed loop around the instruction, and the number of its steps after which the window of one
    block of outputs is where that of the next block was; None where the loop is shorter, or that
    never happens."""
    while isinstance(x, Masked):
        x = x.value
    if not isinstance(x, Read) or operand not in plan.shuffled:
        return None
    moves = {d: int(step) for d, s in x.strides if (step := const_value(s)) is not None}
    reaches: dict[Dim, int] = {}
    for p in (p for row in plan.rows for p in row if not p.dim.reduced):
        reaches[p.dim] = max(reaches.get(p.dim, 0), p.extent * p.step)
    blocks = [abs(n * moves.get(d, 0)) for d, n in reaches.items()]
    for p in plan.outer:
        step = abs(p.step * moves.get(p.dim, 0))
        if not p.dim.reduced or step == 0 or p.extent * p.step > p.dim.extent:
            continue
        for block in blocks:
            if block % step == 0 and 0 < block // step < p.extent and p.extent * step % block == 0:
                return p, block // step
    return None


def sharing(x: Tensor, plan: Plan, operand: int) -> int:
    """How many steps of a sum one window serves, when there are outputs side by side."""
    met = meeting(x, plan, operand)
    return 1 if met is None else together(*met)


def together(p: Part, steps: int) -> int:
    """How many of the steps of a loop, so many apart, are done side by side: all, or a few."""
    count = p.extent // steps
    return next(n for n in range(min(count, MOST_TOGETHER), 0, -1) if count % n == 0)
