"""Vector accesses of threads: where they are made, and that they are aligned."""

from __future__ import annotations

import pytest
from block_runs import Touch, touches
from gpu_kernels import lowered, scheduled

from hbc.ir.lang.nodes import If, Load, Ramp, Store
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import nodes


def vector_touches(block: list[Touch]) -> list[tuple[Touch, int]]:
    """The first lane of each vector access, and how many there are."""
    found, at = [], 0
    while at < len(block):
        lanes = block[at].node.index.type.lanes
        if lanes > 1 and isinstance(block[at].node.index, Ramp):
            found.append((block[at], lanes))
            elements = [t.element for t in block[at : at + lanes]]
            assert elements == list(range(elements[0], elements[0] + lanes))
        at += lanes
    return found


@pytest.mark.parametrize(("n", "k", "wide"), [(32, 16, True), (36, 20, True), (33, 17, False)])
def test_aligned(n: int, k: int, wide: bool) -> None:
    """Rows that begin at multiples of 16 bytes are read and written in such pieces, others never."""
    kernel = lowered("gemm", "vectors")
    seen = set()
    for block in touches(kernel, {"M": 9, "N": n, "K": k}):
        for touch, lanes in vector_touches(block):
            assert lanes == 4
            assert touch.element % lanes == 0
            seen.add(touch.buffer)
    arguments = {"A", "B", "C"} if wide else set()
    assert seen == arguments | {"A_in_acc", "B_in_acc"}


def test_one_test_for_each_nest() -> None:
    """Strides are tested around the loops over threads."""
    kernel = lowered("gemm", "vectors")
    tests = {show(s.condition) for s in nodes(kernel.body) if isinstance(s, If)}
    assert {f"{x}_stride0 % 4 == 0" for x in "ABC"} <= tests


def test_rows_of_odd_length_in_shared_memory() -> None:
    """Rows padded against bank conflicts begin anywhere: one element at a time is stored there."""
    lines = """
        C.tile(i, j, io, jo, ii, ji, 8, 32).gpu_blocks(io, jo).gpu_threads(ii, ji)
        acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
        acc.update.split(k, ko, ki, 8).reorder(ko, i, j, ki).gpu_threads(i, j)
        A.in(acc).compute_at(acc.update, ko).vectorize(k, 4).pad_storage(k, 9)
    """
    kernel = scheduled("gemm", lines)
    stores = [n for n in nodes(kernel.body) if isinstance(n, Store) and n.buffer == "A_in_acc"]
    assert stores
    assert all(n.index.type.lanes == 1 for n in stores)
    loads = [n for n in nodes(kernel.body) if isinstance(n, Load) and n.buffer == "A"]
    assert {n.type.lanes for n in loads} == {1, 4}


def test_gathered_and_stored() -> None:
    """Columns are read one element at a time and stored eight at a time."""
    lines = """
        B.tile(j, i, jo, io, ji, ii, 32, 32).gpu_blocks(jo, io).gpu_threads(ji).vectorize(ii, 8)
        A.in(B).compute_at(B, io).vectorize(j, 8)
    """
    kernel = scheduled("transpose", lines)
    wide = [n for n in nodes(kernel.body) if isinstance(n, Store) and n.index.type.lanes > 1]
    assert {(n.buffer, n.index.type.lanes) for n in wide} >= {("B", 8), ("A_in_B", 8)}
