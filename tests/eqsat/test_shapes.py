"""Statements of one shape are chosen for once: selection does not grow with unrolled copies, nor with
the extents of a kernel. And which local buffers may be written beyond their masks."""

from __future__ import annotations

import pytest

import hbc.eqsat.choose
from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.instruction_files import builtin_descriptions
from hbc.eqsat.egraph import EGraph
from hbc.eqsat.select import select
from hbc.eqsat.unmask import is_relaxed
from hbc.frontend.check import check
from hbc.frontend.isa_load import load_instructions
from hbc.frontend.parse import parse
from hbc.ir.nodes import Allocate, Instruct
from hbc.ir.read import read_kernel
from hbc.ir.source import Source
from hbc.ir.target import TARGETS
from hbc.ir.walk import nodes

GEMM = """
size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule lanes for avx512bf16 {
    C.tile(i, j, io, jo, ii, ji, ROWS, COLUMNS, tail = exact).vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 2, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 16).vectorize(ki).unroll(i).unroll(j)
}
"""
CONVOLUTION = """
size   H, W
input  I: bf16[H, W + TAPS - 1]
input  F: bf16[TAPS]
output O: f32[H, W]
reduce r in TAPS
acc[y, x]  = 0
acc[y, x] += f32(I[y, x + r]) * f32(F[r])
O[y, x]    = acc[y, x]
schedule tiles for amx {
    O.split(x, xo, xi, 256, tail = exact).vectorize(xi)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
    acc.update.split(r, ro, ri, 8, tail = exact).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}
"""


def graphs(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many e-graphs selection makes for the program, and instructions."""
    p = check(parse(Source("test.hb", text)), {})
    target = p.schedules[0].targets[0]
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS[target], before="select")
    made: list[EGraph] = []

    class Counted(EGraph):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(hbc.eqsat.choose, "EGraph", Counted)
    known = load_instructions(builtin_descriptions())
    chosen = select(kernel, known.of_target(target))
    return len(made), sum(isinstance(n, Instruct) for n in nodes(chosen.body))


def test_unrolled_copies_are_chosen_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few = graphs(GEMM.replace("ROWS", "1").replace("COLUMNS", "16"), monkeypatch)
    many = graphs(GEMM.replace("ROWS", "6").replace("COLUMNS", "64"), monkeypatch)
    assert few == (1, 1)
    assert many == (1, 24)


def test_the_number_of_taps_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = (graphs(CONVOLUTION.replace("TAPS", n), monkeypatch) for n in ("8", "256"))
    assert short[0] == long[0]
    assert short[1] == long[1]


def relaxed(stores: str, memory: str = "registers") -> bool:
    """Whether the buffer of the stores may be written beyond their masks."""
    text = f"""
    kernel k
    size n
    output out: f32[64]
    {{ allocate acc: f32[64] in {memory} {{ {stores} }} }}
    """
    (found,) = (a for a in nodes(read_kernel(text).body) if isinstance(a, Allocate))
    return is_relaxed(found)


FIRST = "acc[ramp(0, 1, 16) if ramp(0, 1, 16) < x16(n)] = x16(0.0:f32)"


def test_one_mask_for_all_stores() -> None:
    assert relaxed(FIRST)
    assert relaxed(FIRST + FIRST.replace("0.0", "1.0"))
    assert not relaxed(FIRST, memory="stack")


def test_other_masks_keep_them() -> None:
    """What one store leaves out another has written."""
    whole = "acc[ramp(0, 1, 16)] = x16(0.0:f32)"
    assert not relaxed(FIRST + whole)
    assert not relaxed(FIRST + FIRST.replace("x16(n)", "x16(n - 1)"))
    overlapping = FIRST.replace("acc[ramp(0, 1, 16)", "acc[ramp(8, 1, 16)")
    assert not relaxed(FIRST + overlapping)


def test_pieces_have_their_own_masks() -> None:
    second = FIRST.replace("acc[ramp(0, 1, 16)", "acc[ramp(16, 1, 16)").replace("x16(n)", "x16(2)")
    assert relaxed(FIRST + second)


NESTED = """
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
input  D: i8[3, N]
output C: i32[M, N]
reduce s in 3, k in K
C[i, j]  = 0
C[i, j] += i32(D[s, j]) * (i32(A[i, k]) * i32(B[k, j]))
schedule lanes for avx512vnni {
    C.vectorize(j, 16, tail = exact)
    C.update.split(k, ko, ki, 4, tail = exact).vectorize(j, 16, tail = exact).reorder(ko, i, j, s, ki)
    C.update.atomic().vectorize(ki).vectorize(s)
}
"""


def test_a_sum_around_the_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of three: what instructions give would be summed again, with weights, which is not done
    in registers; the statement stays as it is."""
    assert graphs(NESTED, monkeypatch) == (1, 0)
