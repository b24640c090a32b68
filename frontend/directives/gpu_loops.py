"""Directives that give loops to a GPU: to the blocks of a grid, the threads of a block, the lanes of a
warp.

Each is a function (Func, stage plan, directive) -> stage plan; an illegal one raises HbcError.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.directives.gpu_atomics import check_atomic
from hbc.frontend.directives.loops import find, integer, names, note
from hbc.frontend.plans.loop_kinds import expect_serial
from hbc.frontend.plans.plan import StagePlan, stage_text
from hbc.frontend.program.funcs import Directive, Func
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir

MOST_BLOCK_LOOPS = 3  # a grid has three dimensions
MOST_RESIDENT = 32  # blocks of a multiprocessor, of any that there is: sm_80 and sm_90 have as many


def gpu_blocks(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for i: for j` -> a grid with a block of threads for each (i, j)."""
    new = _mark(func, stage, d, ir.LoopKind.BLOCK)
    if sum(x.kind is ir.LoopKind.BLOCK for x in new.loops) > MOST_BLOCK_LOOPS:
        raise error(
            f"a grid of blocks has at most {MOST_BLOCK_LOOPS} dimensions", d.span,
            "`fuse` two of the loops first",
        )  # fmt: skip
    return new


def gpu_threads(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for i: for j` -> a thread of the block for each (i, j), those of one i next to each other."""
    return _mark(func, stage, d, ir.LoopKind.THREAD)


def gpu_lanes(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for i` -> a lane of the warp for each i; loops over threads around it count warps."""
    return _mark(func, stage, d, ir.LoopKind.LANE)


def persistent(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """The loops over blocks on no more blocks than the GPU runs at once, so many on a multiprocessor."""
    _check_blocks(stage, d, "could share few of them")
    count = integer(d, 0) if d.args else 0
    if count > MOST_RESIDENT:
        raise error(
            f"`persistent({count})`: no multiprocessor of a GPU holds more than {MOST_RESIDENT} blocks "
            "at once", d.span,
            "`persistent()` takes as many as there is room for",
        )  # fmt: skip
    return replace(stage, marks=replace(stage.marks, resident=count))


def at_once(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """The loops over blocks with at least so many on a multiprocessor: a thread has at most the registers
    that this leaves it, and may have all of them."""
    _check_blocks(stage, d, "could run at once")
    return replace(stage, marks=replace(stage.marks, at_once=integer(d, 0)))


def _check_blocks(stage: StagePlan, d: Directive, what: str) -> None:
    if any(x.kind is ir.LoopKind.BLOCK for x in stage.loops):
        return
    pure = next((x.name for x in stage.loops if x.dim not in stage.reduce), "i")
    raise error(
        f"`{stage_text(stage)}` has no loops over blocks that {what}", d.span,
        f"`gpu_blocks({pure})` first",
    )  # fmt: skip


def _mark(func: Func, stage: StagePlan, d: Directive, kind: ir.LoopKind) -> StagePlan:
    for name in names(d, len(d.args)):
        loop = find(stage, name, d)
        expect_serial(stage, loop, d)
        check_atomic(func, stage, loop, d)
        new = replace(loop, kind=kind, note=note(stage, d), span=d.span)
        stage = replace(stage, loops=tuple(new if x is loop else x for x in stage.loops))
    return stage
