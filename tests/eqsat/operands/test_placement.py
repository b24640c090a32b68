"""Where packed operands are filled: outside every loop in which they stay the same, and never before
what they read is written, where a name that they use is not known, or where they are not wanted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.eqsat.choosing.select import select
from hbc.frontend.isa.load import load_instructions
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, For, Instruct, Node, Store
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.walk import children, nodes
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import numpy_dtype, poison
from hbc.ir.meaning.verify import verify

HEADER = """
kernel t
size M
size N
size K
input A: bf16[M, K]
input B: bf16[K, N]
output C: f32[M, N]
"""
# One statement: 16 columns of C, two terms of the sum. Rows of B must be interleaved for it.
PRODUCT = """
C[ramp(i * C_stride0 + 16 * j, 1, 16)] = C.f32x16[ramp(i * C_stride0 + 16 * j, 1, 16)] + reduce<+>(
    x16(f32x2(A.bf16x2[ramp(i * A_stride0 + 2 * k, 1, 2)]))
    * f32x32(B.bf16x32[ramp(ramp(2 * k * B_stride0 + 16 * j, B_stride0, 2), x2(1), 16)]), 16)
"""
ZERO = """
for i from 0 count M { for j from 0 count N / 16 { C[ramp(i * C_stride0 + 16 * j, 1, 16)] = x16(0.0:f32) } }
"""


@cache
def known() -> tuple[Instruction, ...]:
    found = load_instructions(builtin_descriptions())
    return found.of_target("avx512bf16")


def selected(body: str) -> tuple[Kernel, Kernel]:
    """The kernel as written, and with instructions; they compute the same."""
    kernel = read_kernel(f"{HEADER}{{\n{ZERO}{body}\n}}\n")
    verify(kernel, "read")
    chosen = select(kernel, known())
    verify(chosen, "select")
    assert any(isinstance(n, Instruct) for n in nodes(chosen.body))
    random = np.random.default_rng(4)
    for sizes in ({"M": 3, "N": 32, "K": 4}, {"M": 1, "N": 16, "K": 2}, {"M": 2, "N": 16, "K": 0}):
        results = []
        inputs = {
            a.name: random.integers(-3, 4, (sizes["M"] if a.name == "A" else sizes["K"],
            sizes["K"] if a.name == "A" else sizes["N"])).astype(numpy_dtype(a.element))
            for a in kernel.arguments if not a.output
        }  # fmt: skip
        for k in (kernel, chosen):
            out = poison(k.arguments[-1].element, sizes["M"] * sizes["N"])
            out = out.reshape(sizes["M"], sizes["N"])
            run(k, sizes, {**inputs, "C": out})
            results.append(out)
        np.testing.assert_array_equal(*results)
    return kernel, chosen


def around(n: Node, wanted: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """For each allocation of a buffer of such a name, the loops around it."""
    if isinstance(n, Allocate) and n.buffer.startswith(wanted):
        yield above
    if isinstance(n, For):
        above = (*above, n.var)
    for c in children(n):
        yield from around(c, wanted, above)


def loops_around_pack(kernel: Kernel) -> list[str]:
    """The loops around the allocation of what is packed of B."""
    (above,) = around(kernel.body, "B_packed")
    return list(above)


def loops_of_fill(kernel: Kernel) -> list[str]:
    """The loops around the statement that fills it, outermost first."""

    def find(n: Node, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if isinstance(n, Store) and n.buffer.startswith("B_packed"):
            yield above
        inner = (*above, n.var) if isinstance(n, For) else above
        for c in children(n):
            yield from find(c, inner)

    (found,) = find(kernel.body, ())
    return list(found)


def nested(*loops: str, body: str = PRODUCT) -> str:
    """The statement in loops over i, j, k in this order, outermost first."""
    counts = {"i": "M", "j": "N / 16", "k": "K / 2"}
    for var in reversed(loops):
        body = f"for {var} from 0 count {counts[var]} {{\n{body}\n}}"
    return body


@pytest.mark.parametrize(
    ("order", "outside", "fill"),
    [
        ("ijk", [], ["k", "j"]),  # does not vary in i: all of B, once, and row by row
        ("ikj", [], ["k", "j"]),
        ("jik", ["j"], ["j", "k"]),  # 16 columns of B, for all i
        ("jki", ["j", "k"], ["j", "k"]),  # one vector, for all i
        ("kij", ["k"], ["k", "j"]),
    ],
)
def test_a_pack_is_outside_of_what_it_does_not_vary_in(
    order: str, outside: list[str], fill: list[str]
) -> None:
    _, kernel = selected(nested(*order))
    assert loops_around_pack(kernel) == outside
    assert loops_of_fill(kernel) == fill


def test_a_name_of_a_loop_inside_is_bound_where_it_is_packed() -> None:
    """The name is one inside of where the pack is, and its extent too."""
    body = (
        f"let half = K / 2 in {{ for k from 0 count half {{ let b = 1 * k in {{ {PRODUCT} }} }} }}"
    )
    body = body.replace("2 * k * B_stride0", "2 * b * B_stride0")
    _, kernel = selected(nested("i", "j", body=body))
    assert loops_around_pack(kernel) == []
    assert loops_of_fill(kernel) == ["j", "k"]


def test_what_is_stored_in_the_loop_is_packed_in_it() -> None:
    """B's copy is written anew for each i."""
    copy = """
    allocate P: bf16[32] in stack {
        P[ramp(0, 1, 16)] = B.bf16x16[ramp(2 * k * B_stride0 + 16 * j, 1, 16)]
        P[ramp(16, 1, 16)] = B.bf16x16[ramp((2 * k + 1) * B_stride0 + 16 * j, 1, 16)]
        BODY
    }
    """
    inner = PRODUCT.replace(
        "B.bf16x32[ramp(ramp(2 * k * B_stride0 + 16 * j, B_stride0, 2), x2(1), 16)]",
        "P.bf16x32[ramp(ramp(0, 16, 2), x2(1), 16)]",
    )
    _, kernel = selected(nested("i", "j", "k", body=copy.replace("BODY", inner)))
    (above,) = around(kernel.body, "P_packed")
    assert above == ("i", "j", "k")


def test_a_condition_goes_with_the_pack() -> None:
    """What is read under a condition on a loop is packed under it, or inside of it."""
    body = f"if 16 * j + 16 < N + 1 {{ {PRODUCT} }}"
    _, kernel = selected(nested("i", "j", "k", body=body))
    assert "i" not in loops_of_fill(kernel) or loops_around_pack(kernel) == ["i", "j", "k"]


def test_one_pack_for_statements_alike() -> None:
    """Two rows of C with the same columns of B share what is packed."""
    second = PRODUCT.replace("i * A_stride0", "(M - 1 - i) * A_stride0")
    _, kernel = selected(nested("j", "i", "k", body=PRODUCT + second))
    assert len(list(around(kernel.body, "B_packed"))) == 1


def test_rows_as_they_lie_are_not_packed() -> None:
    """A is read as it lies: two adjacent terms, for all lanes."""
    _, kernel = selected(nested("i", "j", "k"))
    assert not list(around(kernel.body, "A_packed"))
