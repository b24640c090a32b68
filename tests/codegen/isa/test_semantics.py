"""What instructions compute, from their text alone: also instructions that no processor has."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from isa_machines import DESCRIBED
from isa_program import Program, build, missing
from isa_values import REGIMES, differences, operands

from hbc.frontend.isa.load import describe
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.source import Source
from hbc.ir.lang.instruction import Instruction, Overflow
from hbc.ir.meaning.contraction import corners, extents, largest, strides
from hbc.ir.meaning.instruction_semantics import execute

# A processor of our own: registers of 24 bytes, operands in an order that nobody has.
MADE_UP = """
feature swirl_feature { machine x86_64; cpuinfo "swirl"; flag ""
                        probe { leaf 7; register eax; bit 0 } }
place swirls { machine x86_64; memory registers; count 4; row_bytes 24; header "swirl.h"
               types { int "struct swirl" } }
target mine "a processor of our own" uses swirl_feature

instruction swirl(a: u8[2, 3, 4], sum: i32[3, 2], b: i8[3, 4, 2]) in swirls {
    reduce k in 8
    sum[i, j] += i32(a[k % 2, i, k / 2]) * i32(b[i, k / 2, j])
}
emit "{sum} = swirl({sum}, {a}, {b});"
cost { latency 3; per_cycle 0.5 }
needs swirl_feature
"""
HEADER = """
#include <stdint.h>
struct swirl { unsigned char bytes[24]; };
static struct swirl swirl(struct swirl sum, struct swirl a, struct swirl b)
{
    int32_t s[3][2];
    memcpy(s, sum.bytes, sizeof s);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 8; k++)
                s[i][j] += a.bytes[k % 2 * 12 + i * 4 + k / 2]
                           * (int8_t)b.bytes[i * 8 + k / 2 * 2 + j];
    memcpy(sum.bytes, s, sizeof s);
    return sum;
}
"""


@pytest.fixture(scope="module")
def swirl() -> Instruction:
    (made,) = describe([Source("made_up.hb", MADE_UP)]).of_target("mine")
    return made


def test_made_up_instruction_is_executed(swirl: Instruction) -> None:
    random = np.random.default_rng(1)
    for regime in REGIMES:
        x = operands(swirl, {}, regime, random)
        wanted = x["sum"].astype(np.int64)
        for i, j, k in itertools.product(range(3), range(2), range(8)):
            wanted[i, j] += int(x["a"][k % 2, i, k // 2]) * int(x["b"][i, k // 2, j])
        assert not differences(execute(swirl, x), wanted.astype(np.int32))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_made_up_instruction_as_c(swirl: Instruction, compiler: str, tmp_path: Path) -> None:
    if reason := missing(compiler):
        pytest.skip(reason)
    (tmp_path / "swirl.h").write_text(HEADER, encoding="ascii")
    program = Program(build([swirl], [compiler], compiler, tmp_path, [f"-I{tmp_path}"]))
    random = np.random.default_rng(1)
    trials = [operands(swirl, {}, regime, random) for regime in REGIMES]
    for x, got in zip(trials, program.run(swirl, {}, trials), strict=True):
        assert not differences(got, execute(swirl, x))


def test_a_swapped_template_is_found(tmp_path: Path) -> None:
    """The test of the templates can fail: here unsigned and signed operands are swapped."""
    if reason := missing("gcc"):
        pytest.skip(reason)
    text = MADE_UP.replace("swirl({sum}, {a}, {b})", "swirl({sum}, {b}, {a})")
    (wrong,) = describe([Source("made_up.hb", text)]).instructions
    (tmp_path / "swirl.h").write_text(HEADER, encoding="ascii")
    program = Program(build([wrong], ["gcc"], "gcc", tmp_path, [f"-I{tmp_path}"]))
    x = operands(wrong, {}, "bits", np.random.default_rng(1))
    assert differences(program.run(wrong, {}, [x])[0], execute(wrong, x))


INTEGERS = [i for i in DESCRIBED.instructions if i.operands[i.accumulator].element.is_int]


@pytest.mark.parametrize("i", INTEGERS, ids=lambda i: i.name)
def test_integers_are_exact(i: Instruction) -> None:
    """Against the loops, one after the other, in Python's integers."""
    low, high = i.operands[i.accumulator].element.limits
    names = [i.operands[n].name for n in (i.accumulator, *i.factors)]
    for sizes in [next(corners(i.sizes))]:
        x = operands(i, sizes, "mixed", np.random.default_rng(3))
        flat = {name: x[name].reshape(-1).tolist() for name in names}
        wanted = list(flat[names[0]])
        for c, a, b in visits(i, sizes):
            wanted[c] += flat[names[1]][a] * flat[names[2]][b]
        if i.rounding.overflow is Overflow.SATURATES:
            wanted = [min(max(v, low), high) for v in wanted]
        wrapped = [(v - low) % (high - low + 1) + low for v in wanted]
        assert execute(i, x, sizes).reshape(-1).tolist() == wrapped


def visits(i: Instruction, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """The offsets in the accumulator and the factors, at each point of the loops."""
    moves = [strides(i, n, sizes) for n in (i.accumulator, *i.factors)]
    return [
        tuple(sum(x * s for x, s in zip(point, m, strict=True)) for m in moves)
        for point in itertools.product(*map(range, extents(i, sizes)))
    ]


def test_wrong_arguments_are_ours() -> None:
    (i,) = (i for i in DESCRIBED.instructions if i.name == "tdpbssd")
    x = operands(i, largest(i), "bits", np.random.default_rng(1))
    for sizes, why in (
        ({"M": 16, "N": 16}, "`K` is not given"),
        ({"M": 17, "N": 16, "K": 64}, "`M` is 17, and `tdpbssd` takes 1 to 16"),
        ({"M": 16, "N": 16, "K": 62}, "`K` is 62, and `tdpbssd` takes multiples of 4"),
        ({"M": 8, "N": 16, "K": 64}, "`c` of `tdpbssd` is int32"),
    ):
        with pytest.raises(InternalError, match=why):
            execute(i, x, sizes)
