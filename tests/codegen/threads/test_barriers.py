"""Barriers stand where threads would race without them, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from block_runs import changed_barrier, is_racing, races
from gpu_kernels import SIZES, lowered, schedules

from hbc.codegen.threads.barriers import barriers
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Barrier, BarrierScope, Block, CopyWait, For, Stmt
from hbc.ir.lang.walk import map_stmt, statements

# Not where threads read and write as the data says, nor what warps do together.
LEFT_OUT = ("histogram", "row_products")
ROWS = (1, 8)  # what rows are padded to: those that are aligned take code of their own
SCHEDULES = [(name, s) for name, s in schedules() if name not in LEFT_OUT]


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_no_race(name: str, schedule: str | None) -> None:
    kernel = lowered(name, schedule)
    for sizes, row in product(SIZES[name], ROWS):
        assert races(kernel, sizes, row) == []


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_every_barrier_is_needed(name: str, schedule: str | None) -> None:
    """Without any one of them, or with a warp's in place of a block's, there is a race."""
    kernel = lowered(name, schedule)
    found = [x for x in statements(kernel.body) if isinstance(x, Barrier)]
    tried = list(product(SIZES[name][::-1], ROWS))
    for n, barrier in enumerate(found):
        weaker: list[Stmt] = [Block(())]
        if barrier.scope is BarrierScope.BLOCK:
            weaker.append(Barrier(BarrierScope.WARP))
        for new in weaker:
            changed = changed_barrier(kernel, n, new)
            at = next((i for i, run in enumerate(tried) if is_racing(changed, *run)), None)
            assert at is not None, (n, new)
            tried.insert(0, tried.pop(at))  # what shows one shows the next


@pytest.mark.parametrize(
    ("name", "schedule", "count"),
    [
        ("gemm", "direct", 0),
        ("gemm", "staged", 6),  # two for the whole pieces of k, two for the rest of a whole block
        ("conv1d", "rowsthreads", 0),  # each thread reads what it wrote
        ("blur", "sliding", 0),
        ("scan", "inblock", 0),
        ("transpose", "shared", 2),
        ("transpose", "unrolled", 2),  # rows of the output do not meet, whatever their stride
    ],
)
def test_count(name: str, schedule: str, count: int) -> None:
    kernel = lowered(name, schedule)
    assert sum(isinstance(x, Barrier) for x in statements(kernel.body)) == count


@pytest.mark.parametrize("schedule", ["planes", "guarded"])
def test_ring(schedule: str) -> None:
    """No barrier between the pieces in which a block fills a plane, nor in a loop over them."""
    kernel = lowered("ring", schedule)
    for sizes in ((1, 1, 1), (5, 6, 18), (8, 8, 32)):
        assert races(kernel, dict(zip("DHW", sizes, strict=True))) == []
    found = [x for x in statements(kernel.body) if isinstance(x, Barrier)]
    assert len(found) == {"planes": 4, "guarded": 2}[schedule]
    pieces = [x for x in statements(kernel.body) if isinstance(x, For) and x.var == "zyx_o"]
    assert pieces
    assert not any(isinstance(x, Barrier) for piece in pieces for x in statements(piece))


@pytest.mark.parametrize("schedule", ["rows", "guarded"])
def test_padded(schedule: str) -> None:
    """No barrier between the pieces in which a block fills rows that are padded."""
    kernel = lowered("padded", schedule)
    pieces = [x for x in statements(kernel.body) if isinstance(x, For) and x.var == "yx_o"]
    assert pieces
    assert not any(isinstance(x, Barrier) for piece in pieces for x in statements(piece))


def test_again() -> None:
    """Where barriers stand already, none is added."""
    kernel = lowered("gemm", "staged")
    assert barriers(kernel) is kernel


@pytest.mark.parametrize("schedule", ["two", "three", "four"])
def test_every_wait_is_needed(schedule: str) -> None:
    """When one more group may be under way, a thread reads what has not landed."""
    kernel = lowered("pipelined", schedule)
    loops = [n for n in statements(kernel.body) if isinstance(n, For) and n.var == "ko"]
    assert loops
    for loop in loops:
        waits = [n for n in statements(loop) if isinstance(n, CopyWait)]
        assert [w.most for w in waits] == [{"two": 0, "three": 1, "four": 2}[schedule]]
        late = later(kernel, waits[0])
        assert any(races(late, sizes) for sizes in SIZES["pipelined"][::-1])


def later(kernel: Kernel, wait: CopyWait) -> Kernel:
    """The kernel with one more group under way after these waits."""

    def change(s: Stmt) -> Stmt:
        return CopyWait(s.most + 1) if s == wait else map_stmt(s, lambda e: e, change)

    return replace(kernel, body=change(kernel.body))
