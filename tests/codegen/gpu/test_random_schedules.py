"""Random programs with random schedules for a GPU agree with the oracle, and their threads do not race."""

from __future__ import annotations

import pytest
from agreement import check_case, examine
from block_runs import races
from gpu_kernels import CUDA
from random_schedules import random_case

from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.runs.trials import accepted
from hbc.codegen.fragments.thread_view import thread_view
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import (
    Binary,
    Broadcast,
    Const,
    For,
    Load,
    LoopKind,
    Ramp,
    Select,
    Store,
    Var,
)
from hbc.ir.lang.walk import nodes, statements

# Seed 237: an update along a dimension whose extent is no constant.
SEEDS = (237, *range(24))


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees(seed: int) -> None:
    case = random_case(seed)
    if case is None:
        return
    outcome = examine(case, native=False)
    assert outcome.kind != "failed", f"{outcome.where}\n{case.text}\n{outcome.detail}"
    if outcome.kind != "passed":
        return
    p = check_case(case)
    kernel = lower_to_kernel(p, p.schedules[0] if p.schedules else None, CUDA)
    for s in statements(kernel.body):
        if isinstance(s, For) and s.kind is LoopKind.BLOCK:
            assert _has_view(s) in (True, False)
    if _depends_on_data(kernel):
        return
    for sizes in case.sizes:
        if accepted(p, kernel.checks, sizes):
            assert races(kernel, sizes) == []


def _has_view(nest: For) -> bool:
    """Whether registers are private; where threads use what others hold, that is said."""
    try:
        thread_view(nest)
    except HbcError:
        return False
    return True


def _depends_on_data(kernel: Kernel) -> bool:
    """Whether places or conditions are more than sums of integers, which is all that the check of
    races follows."""
    places = [n.index for n in nodes(kernel.body) if isinstance(n, Load | Store)]
    places += [n.mask for n in nodes(kernel.body) if isinstance(n, Load | Store) and n.mask]
    places += [s.condition for s in statements(kernel.body) if hasattr(s, "condition")]
    known = (Const, Var, Binary, Select, Ramp, Broadcast)
    return any(not isinstance(n, known) for e in places for n in nodes(e))
