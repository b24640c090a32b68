"""What kind of loop a scheduled loop becomes where its extent may not be a constant."""

from __future__ import annotations

from hbc.frontend.plans.place_on_gpu import THREADS
from hbc.frontend.plans.plan import Loop, Split, Tail
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Program, Scope
from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import GPU

MAX_UNROLL = 1024
_FREE = (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL, ir.LoopKind.BLOCK)


def loop_kind(
    program: Program, nest: Nest, loop: Loop, scope: Scope
) -> tuple[ir.LoopKind, ir.Expr, ir.Expr | None]:
    """What the loop becomes here, its extent, and where it runs further than it should (masked
    vectors, threads) how many of its iterations count. HbcError where it must have a constant extent
    and has none."""
    extent = simplify(nest.extent(loop.dim))
    scalar = program.target.vector_bits == 0
    if loop.kind in _FREE:
        return loop.kind, extent, None
    if isinstance(extent, ir.Const):
        if loop.kind is ir.LoopKind.UNROLL and int(extent.value) > MAX_UNROLL:
            raise error(
                f"unrolling `{loop.name}` would write its body {extent.value} times", loop.span,
                "unroll a smaller factor, such as 8",
            )  # fmt: skip
        if loop.kind is ir.LoopKind.VECTOR and scalar:
            return ir.LoopKind.SERIAL, extent, None
        return loop.kind, extent, None
    made_by = nest.parent(loop.dim)
    _, most = constant_bounds(extent, scope.ranges)
    if most is not None and isinstance(made_by, Split) and loop.dim == made_by.inner:
        most = made_by.factor
    if loop.kind in THREADS or (program.target.machine == GPU and loop.kind is ir.LoopKind.UNROLL):
        if most is not None and (loop.kind in THREADS or most <= MAX_UNROLL):
            return loop.kind, ir.const_index(most), extent  # all of it, under conditions
        if loop.kind in THREADS:
            raise _not_constant(loop)
    if scope.in_tail and (most is None or loop.kind is ir.LoopKind.UNROLL):
        return ir.LoopKind.SERIAL, extent, None
    if most is None or loop.kind is ir.LoopKind.UNROLL:
        raise _not_constant(loop)
    if scalar or (isinstance(made_by, Split) and made_by.tail is Tail.GUARD):
        return ir.LoopKind.SERIAL, extent, None
    return ir.LoopKind.VECTOR, ir.const_index(most), extent


def _not_constant(loop: Loop) -> HbcError:
    if loop.kind in THREADS:
        return error(
            f"cannot give `{loop.name}` to the threads of a block: its extent is not a constant",
            loop.span,
            f"`split({loop.name}, {loop.name}o, {loop.name}i, 256)` and give `{loop.name}i` to them",
        )
    what = "vectorize" if loop.kind is ir.LoopKind.VECTOR else "unroll"
    return error(
        f"cannot {what} `{loop.name}`: its extent is not a constant", loop.span,
        f"give a factor: `{what}({loop.name}, 16)`",
    )  # fmt: skip
