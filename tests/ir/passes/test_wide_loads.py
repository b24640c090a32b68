"""Loads of lanes that lie close together are widened where all that they read is read anyway: the same
results, no element beyond the arrays, and which loads stay."""

import numpy as np
import pytest

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Gather, Load
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.verify import verify
from hbc.ir.passes.wide_loads import widen_loads

HEAD = """
kernel k
size N
input A: i16[4, {extent}]
output C: i16[8, 32]
"""


def window(at: str, step: int = 1, row: str = "N * A_stride0", buffer: str = "A") -> str:
    """16 windows of two elements, each so many elements after the one before."""
    return f"{buffer}.i16x32[ramp(ramp({row} + {at}, 1, 2), x2({step}), 16)]"


def to(row: int, value: str) -> str:
    return f"C[ramp({32 * row}, 1, 32)] = {value}"


def short(at: str) -> str:
    """Four windows, copied."""
    return f"x4(A.i16x8[ramp(ramp(N * A_stride0 + {at}, 1, 2), x2(1), 4)])"


# The elements of a row of A that are read, statements, and how many loads are widened.
WIDENED = {
    "side by side": (33, [to(0, window("0")), to(1, window("16"))], 2),
    "further on": (49, [to(0, window("0")), to(1, window("16")), to(2, window("32"))], 3),
    "backwards": (33, [to(0, window("16")), to(1, window("0"))], 2),
    "a name between": (
        33, [f"let w = {window('0')} in {{ {to(0, 'w:i16x32')} {to(1, window('16'))} }}"], 2,
    ),
    "an adjacent load": (40, [to(0, window("0")), to(1, "A.i16x32[ramp(N * A_stride0 + 8, 1, 32)]")], 1),
    "a part of a sum": (33, [to(0, f"{window('0')} + {window('16')}")], 2),
    "copies": (13, [to(0, short("0")), to(1, short("4")), to(2, short("8"))], 3),
    "in a loop": (33, [f"for i from 0 count 2 {{ {to(0, window('0'))} {to(1, window('16'))} }}"], 2),
    "over another row": (
        33, [to(0, window("0")), to(1, window("16")), to(2, window("3", 1, "0"))], 2,
    ),
}  # fmt: skip
KEPT = {
    "alone": (17, [to(0, window("0"))]),
    "with a gap": (35, [to(0, window("0")), to(1, window("18"))]),
    "of different rows": (17, [to(0, window("0")), to(1, window("0", 1, "0"))]),
    "adjacent already": (48, [to(0, window("0", 2)), to(1, window("16", 2))]),
    "too far apart": (80, [to(0, window("0", 3)), to(1, window("16", 3)), to(2, window("32", 3))]),
    "under a mask": (17, [
        to(0, window("0")),
        to(1, "A.i16x32[ramp(ramp(N * A_stride0 + 16, 1, 2), x2(1), 16) if x32(N) < x32(0)]"),
    ]),
    "where a choice may leave it out": (33, [
        to(0, window("0")), to(1, f"select(x32(N < 0), {window('16')}, x32(0:i16))"),
    ]),
    "in a branch": (17, [to(0, window("0")), f"if N < 0 {{ {to(1, window('16'))} }}"]),
    "in a loop that may not run": (
        17, [to(0, window("0")), f"for i from 0 count 0 {{ {to(1, window('16'))} }}"],
    ),
    "of a name with two meanings": (37, [
        f"let x = 0 in {{ {to(0, window('x'))} }}",
        f"let x = 4 in {{ {to(1, window('x + 16'))} }}",
    ]),
    "of what is written": (17, [
        to(0, window("0")), to(1, window("0", 1, "0", "C")), to(2, window("15", 1, "0", "C")),
    ]),
    "for a masked store": (33, [
        to(0, window("0")),
        f"C[ramp(32, 1, 32) if x32(N) < x32(0)] = {window('16')}",
    ]),
}  # fmt: skip


def kernel(extent: int, statements: list[str]) -> Kernel:
    body = "\n".join(statements)
    made = read_kernel(f"{HEAD.format(extent=extent)}{{\n{body}\n}}")
    verify(made, "written by hand")
    return made


def result(k: Kernel, extent: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**15), 2**15, (4, extent)).astype(np.int16)
    c = rng.integers(-(2**15), 2**15, (8, 32)).astype(np.int16)
    run(k, {"N": size}, {"A": a, "C": c})
    return c


def widened(k: Kernel) -> int:
    """Shuffles of adjacent elements."""
    found = [n for n in nodes(k.body) if isinstance(n, Gather) and isinstance(n.value, Load)]
    return len(found)


@pytest.mark.parametrize(("extent", "statements", "count"), WIDENED.values(), ids=WIDENED.keys())
def test_widened(extent: int, statements: list[str], count: int) -> None:
    """In the last row of A, whose end is that of the array, too."""
    before = kernel(extent, statements)
    after = widen_loads(before)
    verify(after, "wide-loads")
    assert widened(after) == count
    for row in (0, 3):
        assert np.array_equal(result(before, extent, row), result(after, extent, row))


@pytest.mark.parametrize(("extent", "statements"), KEPT.values(), ids=KEPT.keys())
def test_kept(extent: int, statements: list[str]) -> None:
    made = kernel(extent, statements)
    after = widen_loads(made)
    assert widened(after) == 0
    assert np.array_equal(result(made, extent, 3), result(after, extent, 3))
