"""Every schedule for a GPU gives what the oracle gives, after each pass."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from agreement import interpret, prepare
from gpu_kernels import SIZES, lowered, pipeline_of, schedules

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, For, LoopKind, const_index
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.verify import verify


@pytest.mark.parametrize(("name", "schedule"), schedules())
def test_agrees(name: str, schedule: str | None) -> None:
    stages: list[Kernel] = []

    def after(stage: str, kernel: Kernel) -> None:
        verify(kernel, stage)
        if not stages or stages[-1] is not kernel:
            stages.append(kernel)

    p = pipeline_of(name)
    lowered(name, schedule, after)
    case = SimpleNamespace(sizes=SIZES[name], seed=1)
    runs = [r for n in range(len(case.sizes)) if (r := prepare(p, stages[-1], case, n))]
    assert runs
    for kernel in stages:
        interpret(kernel, p, runs)


@pytest.mark.parametrize("name", SIZES)
def test_a_thread_for_each_element(name: str) -> None:
    """Without a schedule, everything is in blocks, of 256 threads where there is a variable."""
    kernel = lowered(name, None)
    loops = [n for n in nodes(kernel.body) if isinstance(n, For)]
    blocks = [x for x in loops if x.kind is LoopKind.BLOCK]
    threads = [x for x in loops if x.kind is LoopKind.THREAD]
    assert len(blocks) == len(threads) >= 1
    assert {x.extent for x in threads} <= {const_index(256), const_index(1)}
    allocated = [n.memory for n in nodes(kernel.body) if isinstance(n, Allocate)]
    assert set(allocated) <= {Memory.HEAP, Memory.REGISTER}  # those of sums and scans
