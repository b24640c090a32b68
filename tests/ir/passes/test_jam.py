"""Neighbouring loops of products become one loop, and only where that changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import For
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.passes.jam import jam

KNOWN = load_instructions(builtin_descriptions()).instructions
HEAD = """kernel k
input A: u8[4096]
input B: i8[4096]
output C: i32[32]
instruction vpdpbusd_zmm
"""


def product(at: int, loop: str, packed: str = "Q", start: str = "") -> str:
    lanes = f"[ramp({at}, 1, 16)]"
    a = f"x16(A.u8x4[ramp({loop} * 4 + {at}, 1, 4)])"
    total = start or f"acc.i32x16{lanes}"
    b = f"{packed}.i8x64[ramp({loop} * 64, 1, 64)]"
    return f"acc{lanes} = instruct<vpdpbusd_zmm:i32x16>({total}, {a}, {b})"


def program(*loops: str, rest: str = "") -> Kernel:
    """Loops over `acc`, and over `Q` and `R`, which begin as parts of B."""
    return read_kernel(
        HEAD + "{ allocate Q: i8[1024] in heap { allocate R: i8[1024] in heap {\n"
        "for p from 0 count 16 { Q[ramp(p * 64, 1, 64)] = B.i8x64[ramp(p * 64, 1, 64)] }\n"
        "for q from 0 count 16 { R[ramp(q * 64, 1, 64)] = B.i8x64[ramp(q * 64 + 5, 1, 64)] }\n"
        "allocate acc: i32[32] in registers {\n"
        "acc[ramp(0, 1, 32)] = x32(0:i32)\n"
        + "\n".join(loops)
        + "\nC[ramp(0, 1, 32)] = acc.i32x32[ramp(0, 1, 32)]\n"
        + rest
        + "} } } }",
        KNOWN,
    )


def loops(k: Kernel) -> list[str]:
    return [n.var for n in nodes(k.body) if isinstance(n, For)]


def result(k: Kernel) -> list[int]:
    rng = np.random.default_rng(0)
    arrays = {
        "A": rng.integers(0, 256, 4096, dtype=np.uint8),
        "B": rng.integers(-128, 128, 4096, dtype=np.int8),
        "C": np.zeros(32, np.int32),
    }
    run(k, {}, arrays)
    return [int(v) for v in arrays["C"]]


def loop(var: str, body: str, count: int = 16) -> str:
    return f"for {var} from 0 count {count} {{ {body} }}"


TOGETHER = {
    "two accumulators": (
        (loop("r", product(0, "r")), loop("s", product(16, "s", "R"))), ["p", "r"]
    ),
    "nests": (
        (loop("o", loop("r", product(0, "r")), 2), loop("u", loop("s", product(16, "s")), 2)),
        ["p", "o", "r"],
    ),
}  # fmt: skip
APART = {
    "the same accumulator": (loop("r", product(0, "r")), loop("s", product(0, "s", "R"))),
    "other ranges": (loop("r", product(0, "r")), loop("s", product(16, "s", "R"), 8)),
    "one reads the other's": (
        loop("r", product(0, "r")),
        loop("s", product(16, "s", "R", "acc.i32x16[ramp(0, 1, 16)]")),
    ),
    "what is packed anew": (
        loop("r", product(0, "r")),
        loop("s", "Q[ramp(s * 64, 1, 64)] = B.i8x64[ramp(s * 64 + 9, 1, 64)]"),
    ),
    "a name of the first loop": (
        loop("r", product(0, "r")),
        loop("s", "for r from 0 count 1 { " + product(16, "s") + " }"),
    ),
    "sums, not products": (
        loop("r", product(0, "r")),
        loop("s", "acc[ramp(16, 1, 16)] = acc.i32x16[ramp(16, 1, 16)] + x16(s:i32)")
        .replace("s:i32", "3:i32"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_together(name: str) -> None:
    given, expected = TOGETHER[name]
    before = program(*given)
    after = before.map_body(jam)
    assert loops(after) == expected
    assert result(after) == result(before)


@pytest.mark.parametrize("name", APART)
def test_apart(name: str) -> None:
    before = program(*APART[name])
    after = before.map_body(jam)
    assert [v for v in loops(after) if v != "p"] == [v for v in loops(before) if v not in "pq"]
    assert result(after) == result(before)


def test_nothing_to_do() -> None:
    k = program(loop("r", product(0, "r"))).map_body(jam)
    assert k.map_body(jam) is k
