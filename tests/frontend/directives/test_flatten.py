"""`flatten`: pixels of all rows as one loop. Each schedule is held against the oracle after every pass and
natively, in arrays with and without gaps between rows."""

from __future__ import annotations

import re

import pytest
from agreement import examine
from case import Case

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.strides import lengthened
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.show import show, show_kernel
from hbc.ir.lang.target import TARGETS

BYTES = """
size   H, W, C, K
input  I: u8[H, W, C]
input  F: i8[C, K] constant
output O: i32[H, W, K]
reduce c in C
acc[y, x, k]  = 0
acc[y, x, k] += i32(I[y, x, c]) * i32(F[c, k])
O[y, x, k]    = acc[y, x, k] + 1
"""
BLOCKS = """
    O.flatten(y, x, p)
    O.split(p, po, pi, 6, tail = shift).split(k, ko, ki, 32, tail = shift).reorder(po, ko, pi, ki)
    O.unroll(pi).vectorize(ki, 16).unroll(ki).parallel(po)
    acc.compute_at(O, ko).store_in(registers).vectorize(k, 16).unroll(k).unroll(p)
    acc.update.split(c, co, ci, 4).reorder(co, p, k, ci).atomic().vectorize(ci)
    acc.update.vectorize(k, 16).unroll(k).unroll(p)
"""
TILES = """
    O.flatten(y, x, p)
    O.tile(p, k, po, ko, pi, ki, 16, 16).vectorize(pi).vectorize(ki)
    acc.compute_at(O, ko).store_in(amx_tile).vectorize(p).vectorize(k)
    acc.update.split(c, co, ci, 64).reorder(co, p, k, ci).atomic().vectorize(p).vectorize(k).vectorize(ci)
"""
# No border, so that its edges are none; taps of a column, several rows apart.
COLUMN = """
size   H, W, C, K
input  I: f32[H + 2, W, C]
input  F: f32[3, C, K]
output O: f32[H, W, K]
edge[y, x, c] = zero_edge(I)[y, x, c]
reduce r in 3, c in C
acc[y, x, k]  = 0
acc[y, x, k] += edge[y + r, x, c] * F[r, c, k]
O[y, x, k]    = acc[y, x, k]
"""
# What asks for the row and column of a pixel, and an output that others read elsewhere.
ROWS = """
size   H, W, K
input  B: f32[H]
input  I: f32[H, W, K]
output O: f32[H, W, K]
output Q: f32[H, W, K]
O[y, x, k] = I[y, x, k] + B[y] * f32(x)
Q[y, x, k] = O[H - 1 - y, x, k] - O[y, W - 1 - x, k] + O[y, x, 0]
"""
AROUND = """
size   H, W, K
input  I: i32[H, W, K]
output O: i32[H, W, K]
edge = clamp_edge(I)
reduce r in 3, s in 3
acc[y, x, k]  = 0
acc[y, x, k] += edge[y + r - 1, x + s - 1, k]
O[y, x, k]    = max(acc[y, x, k], I[y, x, k])
"""
VOLUME = """
size   H, W, K
input  I: u16[H, 3, W, K]
output O: u16[H, 3, W, K]
O[z, y, x, k] = I[z, y, x, k] * 3
"""
SIZES = tuple(
    {"H": h, "W": w, "C": c, "K": k}
    for h, w, c, k in ((7, 7, 8, 33), (1, 9, 5, 32), (5, 3, 67, 16), (0, 4, 4, 4), (3, 1, 1, 40))
)
CASES = [
    pytest.param(BYTES, BLOCKS, "avx512vnni", id="dot products"),
    pytest.param(BYTES, TILES, "amx", id="tiles"),
    pytest.param(BYTES, "O.flatten(y, x, p)", "c", id="plain loops"),
    pytest.param(COLUMN, "O.flatten(y, x, p); O.vectorize(p, 8)", "avx2", id="lanes of pixels"),
    pytest.param(
        COLUMN,
        "O.flatten(y, x, p); O.split(p, po, pi, 5); acc.compute_at(O, po); I.in(acc).compute_at(O, po)",
        "avx512", id="a copy",
    ),
    pytest.param(ROWS, "O.flatten(y, x, p); O.vectorize(k, 8)", "avx2", id="one of two"),
    pytest.param(
        ROWS, "O.flatten(y, x, p); Q.flatten(y, x, p); Q.split(p, a, b, 4)", "c", id="both"
    ),
    pytest.param(AROUND, "O.flatten(y, x, p); acc.compute_at(O, p); O.parallel(p)", "c", id="around"),
    pytest.param(
        VOLUME, "O.flatten(y, x, p).flatten(z, p, q).vectorize(k, 16)", "avx512", id="volume"
    ),
]  # fmt: skip


def sizes_of(program: str) -> tuple[dict[str, int], ...]:
    names = re.findall(r"\w+", program.strip().splitlines()[0])[1:]
    return tuple({n: s[n] for n in names} for s in SIZES)


def kernel_of(program: str, schedules: str, target: str) -> Kernel:
    p = check(parse(Source("k.hb", program + schedules)), {})
    return lower_to_kernel(p, p.schedules[0], TARGETS[target], before="vectorize")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("program", "schedule", "target"), CASES)
def test_agrees(program: str, schedule: str, target: str) -> None:
    text = f"{program}\nschedule s for {target} {{ {schedule} }}"
    for seed in range(2):  # of which sizes rows lie apart
        outcome = examine(Case(text, sizes_of(program), target, False, seed))
        assert (outcome.kind, outcome.runs) == ("passed", len(SIZES)), outcome.detail
        assert outcome.selected == (program is BYTES and target != "c")


@pytest.mark.parametrize("program", [BYTES, COLUMN, VOLUME], ids=["bytes", "column", "volume"])
def test_pixels_follow_each_other(program: str) -> None:
    """Neither rows nor columns are left: an index has one stride."""
    kernel = kernel_of(program, "schedule s for c { O.flatten(y, x, p) }", "c")
    body = show_kernel(kernel).partition("{")[2]
    gone = "1" if program is VOLUME else "0"
    assert f"I_stride{gone}" not in body and f"O_stride{gone}" not in body
    assert "%" not in body and "/" not in body


def test_rows_that_were_asked_for_are_known() -> None:
    kernel = kernel_of(ROWS, "schedule s for c { O.flatten(y, x, p) }", "c")
    assert "B.f32[p / W]" in show_kernel(kernel)


def test_gaps_are_tested_where_the_schedule_is_taken() -> None:
    two = "schedule a for c where K > 8 { O.flatten(y, x, p) } schedule b for c { O.unroll(k, 2) }"
    p = check(parse(Source("k.hb", BYTES + two)), {})
    kernel = lower_to_kernel(p, choose_schedule(p, "c", None), TARGETS["c"])
    found = [(g.name, g.dim, show(g.where)) for g in kernel.gapless]
    assert found == [("I", 0, "K > 8"), ("O", 0, "K > 8")]
    assert read_kernel(show_kernel(kernel)) == kernel


def test_tests_of_strides_make_such_gaps() -> None:
    p = check(parse(Source("k.hb", BYTES + "schedule s for c { O.flatten(y, x, p) }")), {})
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS["c"])
    assert lengthened(p.inputs[0]) == 2
    assert lengthened(p.inputs[0], kernel.gapless) == 1
