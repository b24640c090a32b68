"""Statements that mostly load backwards are reversed once: the same results, and which stay as they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.verify import verify
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.reverse import reverse

KERNEL = """
kernel k
size N
input A: i16[100]
input W: i16[4]
output C: i16[64]
{{
{}
}}
"""


def back(at: str, mask: str = "") -> str:
    return f"A.i16x16[ramp({at}, -1, 16){mask}]"


def ahead(at: str) -> str:
    return f"A.i16x16[ramp({at}, 1, 16)]"


def to(value: str, mask: str = "") -> str:
    return f"C[ramp(16, 1, 16){mask}] = {value}"


TWO = f"{back('N + 20')} * x16(3:i16) + {back('N + 19')}"
LIVE = "ramp(0:i8, 1:i8, 16) < x16(i8(N))"
TURNED = {
    "two taps": to(TWO),
    "in a loop": f"for i from 0 count 3 {{ {to(TWO)} }}",
    "three against one": to(f"{TWO} + {back('N + 18')} - {ahead('N + 2')}"),
    "what all lanes share": to(f"{TWO} * x16(W.i16[N])"),
    "what lanes count": to(f"select(ramp(0:i16, 1:i16, 16) < x16(5:i16), {TWO}, x16(7:i16))"),
    "under a mask": to(f"{back('N + 20', f' if {LIVE}')} + {back('N + 19', f' if {LIVE}')}", f" if {LIVE}"),
}  # fmt: skip
KEPT = {
    "one": to(back("N + 20")),
    "one against one": to(f"{back('N + 20')} + {ahead('N')}"),
    "two against one": to(f"{TWO} + {ahead('N')}"),
    "the same twice": to(f"{back('N + 20')} * {back('N + 20')}"),
    "a name from before": f"let x = {ahead('N')} in {to(f'{TWO} + x:i16x16')}",
    "lanes of others": to(f"{TWO} + x16(reduce<+>({back('N + 20')}, 1))"),
    "half a register": "C[ramp(16, 1, 4)] = A.i16x4[ramp(N + 9, -1, 4)] + A.i16x4[ramp(N + 8, -1, 4)]",
    "registers": f"allocate R: i16[64] in registers {{ R[ramp(0, 1, 16)] = {ahead('N')} {to(TWO)} "
                 f"C[ramp(0, 1, 16)] = R.i16x16[ramp(15, -1, 16)] + {TWO} }}",
}  # fmt: skip


def kernel(text: str) -> Kernel:
    return read_kernel(KERNEL.format(text))


def results(k: Kernel, n: int) -> list[int]:
    random = np.random.default_rng(3)
    arrays = {
        "A": random.integers(-9999, 9999, 100).astype(np.int16),
        "W": np.arange(1, 5, dtype=np.int16), "C": np.zeros(64, np.int16),
    }  # fmt: skip
    run(k, {"N": n}, arrays)
    return arrays["C"].tolist()


def backwards(k: Kernel) -> int:
    """How many loads of `A` go backwards."""
    return sum(
        isinstance(n, ir.Load)
        and n.buffer == "A"
        and isinstance(n.index, ir.Ramp)
        and const_value(n.index.stride) == -1
        for n in nodes(k.body)
    )


@pytest.mark.parametrize("name", TURNED)
@pytest.mark.parametrize("target", ["avx2", "avx512"])
def test_turned(name: str, target: str) -> None:
    k = kernel(TURNED[name])
    found: list[Moved] = []
    new = reverse(k, TARGETS[target], found)
    verify(new, "reverse")
    assert backwards(new) == (1 if "against" in name else 0)
    assert [(m.buffer, m.stored, m.type, m.vectors, m.whole, m.moves) for m in found] == [
        ("C", True, "i16x16", 1, 1, 2)
    ]
    assert all(m.before > m.moves for m in found)
    for n in (0, 1, 3):
        assert results(new, n) == results(k, n)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    k = kernel(KEPT[name])
    new = reverse(k, TARGETS["avx2"])
    assert results(new, 1) == results(k, 1)
    if name != "registers":  # whose other statement is turned
        assert new is k
    else:
        assert backwards(new) == backwards(k) - 2


def test_machines_without_a_library_keep_what_they_have() -> None:
    k = kernel(to(TWO))
    assert reverse(k, TARGETS["rvv"]) is k
    assert reverse(k, TARGETS["c"]) is k


@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.integers(0, 30)), min_size=1, max_size=6))
def test_any_sum(taps: list[tuple[int, int]]) -> None:
    loads = [back(f"N + {at + 16}") if step < 0 else ahead(f"N + {at}") for step, at in taps]
    k = kernel(to(" + ".join(f"{load} * x16({n}:i16)" for n, load in enumerate(loads, 2))))
    new = reverse(k, TARGETS["avx2"])
    verify(new, "reverse")
    assert results(new, 0) == results(k, 0)
    assert new is k or backwards(new) < backwards(k)
