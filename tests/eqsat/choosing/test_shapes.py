"""Statements of one shape are chosen for once: selection does not grow with unrolled copies, nor with
the extents of a kernel. And which local buffers may be written beyond their masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType

import pytest

import hbc.eqsat.choosing.choose
import hbc.eqsat.graph.graphs
import hbc.eqsat.graph.search
import hbc.eqsat.operands.check
from hbc.cli.pipeline import lower_to_kernel
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.eqsat.choosing.select import select
from hbc.eqsat.graph.egraph import EGraph
from hbc.eqsat.tensors.unmask import is_relaxed
from hbc.frontend.checks.check import check
from hbc.frontend.isa.load import load_instructions
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Allocate, Instruct
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes

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
LANES = """
size   H, W
input  I: bf16[H, W + TAPS - 1]
input  F: bf16[TAPS]
output O: f32[H, W]
reduce r in TAPS
acc[y, x]  = 0
acc[y, x] += f32(I[y, x + r]) * f32(F[r])
O[y, x]    = acc[y, x]
schedule lanes for avx512bf16 {
    O.split(x, xo, xi, 64, tail = exact).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update.split(r, ro, ri, 8, tail = exact).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x, 16).vectorize(ri).unroll(x)
}
"""
TAIL = (
    GEMM.replace(", tail = exact).reorder", ").reorder")
    .replace("ROWS", "1")
    .replace("COLUMNS", "16")
)


@dataclass(frozen=True)
class Work:
    """What selection did: e-graphs filled, terms in them, candidates costed, statements checked; and the
    instructions that came out."""

    graphs: int
    terms: int
    costed: int
    checked: int
    instructions: int


def work(text: str, monkeypatch: pytest.MonkeyPatch) -> Work:
    """That for a program with one schedule."""
    p = check(parse(Source("test.hb", text)), {})
    target = p.schedules[0].targets[0]
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS[target], before="select")
    counted: Counter[str] = Counter()

    def counting(patch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
        original = getattr(module, name)

        def count(*args: object) -> object:
            counted[name] += 1
            result = original(*args)
            if isinstance(args[0], EGraph):
                counted["terms"] += args[0].size()
            return result

        patch.setattr(module, name, count)

    with monkeypatch.context() as patch:
        counting(patch, hbc.eqsat.graph.search, "saturate")
        counting(patch, hbc.eqsat.choosing.choose, "cost")
        counting(patch, hbc.eqsat.operands.check, "check")
        known = load_instructions(builtin_descriptions())
        chosen = select(kernel, known.of_target(target))
    done = sum(isinstance(n, Instruct) for n in nodes(chosen.body))
    return Work(counted["saturate"], counted["terms"], counted["cost"], counted["check"], done)


def test_unrolled_copies_are_chosen_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few = work(GEMM.replace("ROWS", "1").replace("COLUMNS", "16"), monkeypatch)
    many = work(GEMM.replace("ROWS", "6").replace("COLUMNS", "64"), monkeypatch)
    assert (few.graphs, few.checked, few.instructions) == (1, 1, 1)
    assert many == replace(few, instructions=24)


@pytest.mark.parametrize(("text", "least"), [(CONVOLUTION, 8), (LANES, 16)])
def test_the_number_of_taps_makes_no_difference(
    text: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (work(text.replace("TAPS", str(n)), monkeypatch) for n in (least, 256))
    assert short == long


def test_rules_are_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two statements of different shapes share an e-graph, and leave nothing behind in it."""
    made: list[EGraph] = []
    left: list[int] = []

    class Counted(EGraph):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

        @contextmanager
        def apart(self) -> Iterator[None]:
            before = self.size()
            with super().apart():
                yield
            left.append(self.size() - before)

    monkeypatch.setattr(hbc.eqsat.graph.graphs, "EGraph", Counted)
    one = work(TAIL, monkeypatch)
    assert one.graphs > 1
    assert len(made) == 1
    assert not any(left)


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
    found = work(NESTED, monkeypatch)
    assert (found.graphs, found.instructions) == (1, 0)
