"""Tests that inputs keep the `bound` the user states, before anything is computed from them."""

from __future__ import annotations

from hbc.frontend.program.funcs import Bound, Image, Pipeline
from hbc.frontend.regions.program import Scope
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, cast, le, lt, maximum, minimum, or_
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX, Memory
from hbc.ir.lang.walk import block


def with_bound_checks(pipeline: Pipeline, scope: Scope, body: ir.Stmt) -> ir.Stmt:
    """`body` after a pass over each bounded input that finds its least and greatest value."""
    images = {i.name: i for i in pipeline.inputs if not i.is_scalar}
    for b in reversed(pipeline.bounds):
        if b.name in images:
            body = block(_check(images[b.name], b, scope), body)
    return body


def out_of_bound(b: Bound) -> str:
    """What the entry point says of a value that is outside."""
    return f"a value of `{b.name}` is outside of its bound {show(b.lo)} .. {show(b.hi)}"


def _check(image: Image, b: Bound, scope: Scope) -> ir.Stmt:
    least, most = scope.fresh(f"{image.name}_least"), scope.fresh(f"{image.name}_most")
    element, zero = image.element, ir.const_index(0)
    names = [scope.fresh(f"{image.name}_i{d}") for d in range(len(image.extents))]
    at = scope.storages[image.name].offset(tuple(ir.Var(n) for n in names))
    value = ir.Load(image.name, at, element(1))

    def held(name: str) -> ir.Expr:
        return ir.Load(name, zero, element(1))

    scan: ir.Stmt = block(
        ir.Store(least, zero, minimum(held(least), value)),
        ir.Store(most, zero, maximum(held(most), value)),
    )
    for name, extent in reversed(list(zip(names, image.extents, strict=True))):
        scan = ir.For(name, zero, extent, ir.LoopKind.SERIAL, scan)
    low, high = cast(INDEX, held(least)), cast(INDEX, held(most))
    inside = or_(lt(high, low), and_(le(b.lo, low), lt(high, b.hi)))
    whole = block(
        # The identities of min and max: of an empty input the least is above the most.
        ir.Store(least, zero, identity_of(ir.Op.MIN, element)),
        ir.Store(most, zero, identity_of(ir.Op.MAX, element)),
        scan,
        ir.Assert(inside, out_of_bound(b), b.span),
    )
    for name in (most, least):
        whole = ir.Allocate(
            name, element, ir.const_index(1), Memory.STACK, whole, f"bound {b.name}"
        )
    return whole
