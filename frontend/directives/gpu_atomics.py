"""Updates that a GPU's threads make atomically, because several of them may change one element.

reduce k in K;  acc[i] += A[i, k]  with  acc.update.atomic().gpu_blocks(k)   ->   acc[i] atomic += A[i, k]
"""

from __future__ import annotations

from hbc.frontend.plans.concurrent import check_reordered, is_independent
from hbc.frontend.plans.plan import Loop, StagePlan, stage_text, step
from hbc.frontend.program.funcs import Directive, Func
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

LEAST_BITS = 16
"""Of an element: what `atomicCAS` compares and swaps has as many at least."""


def can_be_atomic(op: ir.Op, element: DType) -> bool:
    """Whether a GPU does `memory = memory op value` on an element as one step."""
    return op in ir.ASSOCIATIVE and element.bits >= LEAST_BITS


def check_atomic(func: Func, stage: StagePlan, loop: Loop, d: Directive) -> None:
    """HbcError where the iterations of a loop, given to blocks or threads, change the same elements and
    nothing makes that safe."""
    update = step(func, stage.update)
    if update is None or not check_reordered(func, stage, loop, d, "parallel"):
        return
    factored = f"`{stage_text(stage)}.rfactor({loop.name}, u)` gives each its own partial result"
    if not stage.atomic:
        raise error(
            f"cannot run the reduction loop `{loop.name}` in parallel: threads would add to the "
            f"same elements of `{func.name}`", d.span,
            f"`{stage_text(stage)}.atomic()` before makes them do so atomically, in any order; "
            f"{factored}",
        )  # fmt: skip
    assert update.op is not None
    if not can_be_atomic(update.op, func.element):
        raise error(
            f"cannot run `{loop.name}` in parallel: threads would update the same elements of "
            f"`{func.name}`, and a GPU has no atomic operations on {func.element}", d.span,
            f"give `{func.name}` a type of 16 bits or more and convert where it is read; {factored}",
        )  # fmt: skip


def atomic_op(func: Func, stage: StagePlan) -> ir.Op | None:
    """How a stage updates elements that other threads update too; None where each has its own."""
    update = step(func, stage.update)
    if update is None or not stage.atomic:
        return None
    shared = any(x.kind in ir.GPU_LOOPS and not is_independent(func, stage, x) for x in stage.loops)
    return update.op if shared else None
