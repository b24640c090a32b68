"""What a loop already is may stand in the way of what a directive would make of it."""

from __future__ import annotations

from hbc.frontend.plans.plan import Loop, StagePlan
from hbc.frontend.program.funcs import Directive
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir

_IS = {
    ir.LoopKind.VECTOR: "vectorized", ir.LoopKind.UNROLL: "unrolled", ir.LoopKind.PARALLEL: "parallel",
    ir.LoopKind.BLOCK: "given to blocks", ir.LoopKind.THREAD: "given to threads",
    ir.LoopKind.LANE: "given to lanes",
}  # fmt: skip


def expect_serial(stage: StagePlan, loop: Loop, d: Directive) -> None:
    """HbcError where a loop has a kind already, or must keep its iterations one after the other."""
    if loop.kind is not ir.LoopKind.SERIAL:
        raise error(
            f"loop `{loop.name}` is already {_IS[loop.kind]}", d.span,
            "a loop has one kind: split it to give each half its own",
        )  # fmt: skip
    if d.name != "parallel":
        _expect_unsaid(stage, loop, d)
    if d.name != "unroll" and any(dim == loop.dim for dim, _ in stage.pipelined):
        raise error(
            f"loop `{loop.name}` is pipelined: its iterations come one after the other", d.span,
            f"`{d.name}` another loop, or pipeline another",
        )  # fmt: skip


def _expect_unsaid(stage: StagePlan, loop: Loop, d: Directive) -> None:
    """HbcError where `partition` has spoken of the loop."""
    if any(dim == loop.dim for dim, _ in stage.parted):
        raise error(
            f"`partition` speaks of a loop `{loop.name}` that `{d.name}` then makes another one", d.span,
            f"`{d.name}` first, then `partition` a loop that is left",
        )  # fmt: skip


def expect_divisible(loop: Loop, d: Directive) -> None:
    """HbcError where a loop has no run of iterations that could be divided."""
    if loop.kind not in (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL):
        hint = "`partition` the loop around it, of which it is a piece, or leave it out"
        if loop.kind in ir.GPU_LOOPS:
            hint = "leave it out: each block or thread tests for itself what it has to do"
        raise error(
            f"loop `{loop.name}` is {_IS[loop.kind]}: it has no iterations in a row to divide", d.span,
            hint,
        )  # fmt: skip


def expect_plain(stage: StagePlan, loop: Loop, d: Directive, done: str) -> None:
    """HbcError where what was said of a loop would be forgotten once it is `done` ("split", "fused")."""
    first = {"split": "split first", "fused": "fuse first"}[done]
    if loop.kind is not ir.LoopKind.SERIAL:
        raise error(
            f"loop `{loop.name}` is already {_IS[loop.kind]} and cannot be {done}", d.span,
            f"{first}, then choose the kind of {'each half' if done == 'split' else 'the new loop'}",
        )  # fmt: skip
    _expect_unsaid(stage, loop, d)
    if any(dim == loop.dim for dim, _ in stage.pipelined):
        raise error(
            f"loop `{loop.name}` is already pipelined and cannot be {done}", d.span,
            f"{first}, then pipeline the loop that this makes",
        )  # fmt: skip


def expect_iterations(loop: Loop, d: Directive) -> None:
    """HbcError where the iterations of a loop to pipeline do not come one after the other."""
    if loop.kind not in (ir.LoopKind.SERIAL, ir.LoopKind.UNROLL):
        raise error(
            f"loop `{loop.name}` is {_IS[loop.kind]}: none of its iterations comes before another, "
            "to copy ahead for the next", d.span,
            "pipeline a loop that is neither vectorized nor parallel, such as one over the steps of "
            "a sum",
        )  # fmt: skip
