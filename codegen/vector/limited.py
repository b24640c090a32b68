"""Lanes whose places are held within limits, or lie evenly apart under a mask: one call of a C function.

A[r + min(max(x - 3 + lane, 0), W - 1)]   ->   clamped_f32x8(A, r, x - 3, 0, W - 1)
A[i + 2 * lane] of the first n lanes      ->   apart_f32x8_live(A, i, 2, n)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.limited_functions import Limits, clamped, first_apart
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, maximum, minimum, sub
from hbc.ir.lang.types import BOOL
from hbc.ir.vectors.lane_masks import first_lanes_count
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import progression


@record
class Run:
    """The places `at + min(max(first + step * lane, low), high)`."""

    at: ir.Expr
    first: ir.Expr
    step: int
    low: ir.Expr | None = None
    high: ir.Expr | None = None


def limited(e: ir.Load, unit: Unit) -> str | None:
    """The load of elements evenly apart within limits; None where it is something else."""
    live = _live(e)
    run = None if live is None or e.type.element == BOOL else _run(e.index)
    if live is None or not isinstance(run, Run) or (run.low is None and run.high is None):
        return None
    limits = Limits(run.step, run.low is not None, run.high is not None, bool(live))
    numbers = [x for x in (run.at, run.first, run.low, run.high) if x is not None]
    function = clamped(e.type.element, e.type.lanes, limits, unit)
    return None if function is None else _call(function, e, [*numbers, *live], unit)


def apart_live(e: ir.Load, unit: Unit) -> str | None:
    """The load of the first of lanes evenly apart, the others 0, for a machine that loads the first of
    neighbours; None where it is something else."""
    live, run = _live(e), _run(e.index)
    if not live or not isinstance(run, Run) or run.low or run.high or e.type.element == BOOL:
        return None
    function = first_apart(e.type.element, e.type.lanes, run.step, unit)
    return None if function is None else _call(function, e, [run.first, *live], unit)


def _live(e: ir.Load) -> list[ir.Expr] | None:
    """How many of the first lanes are live, nothing where all are; None: others than those."""
    if e.mask is None:
        return []
    count = first_lanes_count(e.mask)
    return None if count is None else [count]


def _call(function: str, e: ir.Load, numbers: Sequence[ir.Expr], unit: Unit) -> str:
    texts = [unit.buffers[e.buffer].text, *(str(scalar(n, unit)) for n in numbers)]
    return f"{function}({', '.join(texts)})"


def _run(index: ir.Expr) -> Run | ir.Expr | None:
    """The index as a run; a scalar, where it is that in all lanes; None where it is neither."""
    match index:
        case ir.Broadcast(value=value) if value.type.lanes == 1:
            return value
        case ir.Binary(op=ir.Op.ADD | ir.Op.SUB as op, a=a, b=b):
            return _moved(op, _run(a), _run(b))
        case ir.Binary(op=ir.Op.MIN | ir.Op.MAX as op, a=a, b=b):
            return _held(op, _run(a), _run(b))
        case _:
            known = lane_offsets(index)
            steps = None if known is None else progression(known[1])
            if known is None or steps is None or len(steps) != 1 or steps[0][1] <= 0:
                return None
            return Run(ir.const_index(0), add(known[0], known[1][0]), steps[0][1])


def _moved(op: ir.Op, a: Run | ir.Expr | None, b: Run | ir.Expr | None) -> Run | None:
    """The run a scalar further on."""
    if op is ir.Op.ADD and isinstance(b, Run):
        a, b = b, a
    if not isinstance(a, Run) or b is None or isinstance(b, Run):
        return None
    return replace(a, at=add(a.at, b) if op is ir.Op.ADD else sub(a.at, b))


def _held(op: ir.Op, a: Run | ir.Expr | None, b: Run | ir.Expr | None) -> Run | None:
    """The run within one more limit: a least place raises the greatest, which is met last."""
    if isinstance(b, Run):
        a, b = b, a
    if not isinstance(a, Run) or b is None or isinstance(b, Run):
        return None
    limit = sub(b, a.at)
    if op is ir.Op.MIN:
        return replace(a, high=limit if a.high is None else minimum(a.high, limit))
    high = None if a.high is None else maximum(a.high, limit)
    return replace(a, low=limit if a.low is None else maximum(a.low, limit), high=high)
