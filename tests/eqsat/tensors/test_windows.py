"""Operands whose elements lie close together: which are, when neighbours' windows meet, and that one
register holds them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.eqsat.operands.operand import Access, access, best_load, form, points
from hbc.eqsat.tensors.plan import Contraction, Plan, plans
from hbc.eqsat.tensors.tensor import Dim, Read
from hbc.eqsat.tensors.windows import is_window, meeting, sharing, together
from hbc.frontend.isa.load import load_instructions
from hbc.ir.algebra.layout import Layout
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.nodes import Expr, Var, const_index
from hbc.ir.lang.types import DTYPES

KNOWN = {i.name: i for i in load_instructions(builtin_descriptions()).instructions}
DOTS = {"vdpbf16ps_zmm": "bf16", "vpdpbusd_zmm": "u8", "vpdpbusd_ymm": "u8"}
Case = tuple[Plan, int, Read]


def image(instruction: str, x: int, r: int, s: int = 1, q: int = 1) -> Case:
    """The plan with outputs as lanes for the sum over r taps at x outputs of an image that moves by s
    and by q; the number of the image's operand, and the image."""
    i: Instruction = KNOWN[instruction]
    d, k = Dim("d0", x), Dim("r0", r, reduced=True)
    number = next(n for n in i.factors if i.operands[n].element == DTYPES[DOTS[instruction]])
    moves = [frozenset({d, k}) if n == number else frozenset({k}) for n in i.factors]
    found = list(plans(Contraction((d,), (k,), *moves), i))
    plan = next(p for p in found if not p.swapped and len([row for row in p.rows if row]) == 2)
    strides: tuple[tuple[Dim, Expr], ...] = ((d, const_index(s)), (k, const_index(q)))
    return plan, number, Read("I", DTYPES[DOTS[instruction]], Var("base"), strides)


def shuffled(c: Case) -> Plan:
    plan, number, x = c
    _, _, sorted_ = best_load(form(x), number, plan)
    assert sorted_
    return replace(plan, shuffled=frozenset({number}))


@pytest.mark.parametrize("instruction", DOTS)
@pytest.mark.parametrize(("s", "q"), [(1, 1), (1, 3), (2, 1)])
def test_images_that_overlap_are_shuffled(instruction: str, s: int, q: int) -> None:
    """Where the lanes of a register want no more elements than one has."""
    plan, number, x = image(instruction, 32, 32, s, q)
    at = points(plan, number, {})
    bits = x.element.bits
    group = 32 // bits
    span = (at.lanes // group - 1) * s + (group - 1) * q + 1
    _, pack, sorted_ = best_load(form(x), number, plan)
    if (s, q) == (group, 1):
        assert access(x, plan, number, at) is Access.DIRECT
    else:
        assert sorted_ == (span <= at.lanes)
        assert (pack > 0) != sorted_


@pytest.mark.parametrize(("instruction", "x", "r"), [
    ("vdpbf16ps_zmm", 16, 32), ("vdpbf16ps_zmm", 64, 64), ("vpdpbusd_zmm", 16, 64),
    ("vpdpbusd_zmm", 32, 48), ("vpdpbusd_ymm", 16, 32),
])  # fmt: skip
def test_windows_meet(instruction: str, x: int, r: int) -> None:
    """So many steps on, a block's window is that of the block beside it."""
    case = image(instruction, x, r)
    plan, number = shuffled(case), case[1]
    found = meeting(case[2], plan, number)
    assert found is not None
    part, steps = found
    lanes = next(p.extent * p.step for row in plan.rows for p in row if not p.dim.reduced)
    assert steps * part.step == lanes
    assert part.extent % steps == 0
    assert sharing(case[2], plan, number) == together(part, steps) <= part.extent // steps


@pytest.mark.parametrize(("instruction", "x", "r", "s"), [
    ("vdpbf16ps_zmm", 16, 16, 1),  # the sum ends where they would
    ("vdpbf16ps_zmm", 16, 20, 1),  # its end would be in between
    ("vpdpbusd_zmm", 16, 18, 1),  # and goes beyond the end
])  # fmt: skip
def test_windows_that_do_not_meet(instruction: str, x: int, r: int, s: int) -> None:
    case = image(instruction, x, r, s)
    plan, number = shuffled(case), case[1]
    assert meeting(case[2], plan, number) is None
    assert sharing(case[2], plan, number) == 1


def test_a_window_that_many_steps_serve_is_cheaper() -> None:
    costs = []
    for r in (16, 32, 64):
        plan, number, x = image("vdpbf16ps_zmm", 16, r)
        load, pack, _ = best_load(form(x), number, plan)
        assert pack == 0
        costs.append(load / r)
    assert costs[0] > costs[1] > costs[2]


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_one_register_holds_a_window(bits: int) -> None:
    for n, m, a, b in product((2, 4, 8, 16, 32), (1, 2, 4), (-3, 0, 1, 2, 5), (-1, 0, 1, 4)):
        flat = Layout(Var("x"), ((n, const_index(a)), (m, const_index(b))))
        lanes = [a * i + b * j for i in range(n) for j in range(m)]
        full = n * m * bits in (128, 256, 512)
        apart = max(lanes) - min(lanes)
        assert is_window(flat, bits) == (full and apart < n * m)
        wide = full and n * m * bits == 512 and bits >= 16  # two are picked from as one is
        assert is_window(flat, bits, 2) == (full and apart < n * m * (2 if wide else 1))
    unknown = Layout(Var("x"), ((512 // bits // 2, Var("stride")), (2, const_index(1))))
    assert not is_window(unknown, bits)
