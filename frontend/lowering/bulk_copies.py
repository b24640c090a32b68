"""Copies of boxes of inputs, beside the loops that do the same.

A.in(acc).copy_in_bulk()   ->   bulk copy A_in_acc[0] = A.f16 at [128 * i, 64 * k] .. else { loops }
"""

from __future__ import annotations

from hbc.frontend.plans.plan import FuncPlan
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Scope
from hbc.frontend.regions.regions import extent_of
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, sub
from hbc.ir.lang.walk import free_variables, substitute


def with_bulk_copy(f: FuncPlan, nest: Nest, loops: ir.Stmt, scope: Scope) -> ir.Stmt:
    """The loops of a copy, with the box that they copy. HbcError where they copy none."""
    access = f.func.pure
    assert isinstance(access, ir.Access)
    to, source = scope.storages[f.func.name], scope.storages.get(access.name)
    if source is None or source.box is None or source.buffer != access.name:
        raise _refused(f, f"`{access.name}` is no input")
    starts = {v: nest.starts[v] for v in f.func.variables}
    at, needed, box = list[ir.Expr](), list[ir.Expr](), list[int]()
    order: dict[str, int] = {}
    for index in access.indices:
        variables = [v for v in f.func.variables if v in free_variables(index)]
        first = simplify(substitute(index, starts))
        at.append(first)
        if not variables:
            needed.append(ir.const_index(1))
            box.append(1)
            continue
        v = variables[0]
        along = simplify(sub(substitute(index, {**starts, v: ir.Var(v)}), first))
        count, d = const_value(nest.extents[v]), f.func.variables.index(v)
        if len(variables) > 1 or v in order or along != simplify(sub(ir.Var(v), starts[v])):
            raise _refused(f, f"its elements do not lie along dimensions of `{access.name}`")
        if count is None or to.folds[d] is not None:
            raise _refused(f, f"how many elements it has along `{v}` is not a constant")
        order[v] = int(count)
        needed.append(nest.limits.get(v, nest.extents[v]))
        box.append(int(count))
    stride = 1
    for v, n in reversed(order.items()):
        if to.strides[f.func.variables.index(v)] != ir.const_index(stride):
            raise _refused(
                f, f"its rows do not lie one after the other as those of `{access.name}`"
            )
        stride *= n
    place = to.offset(tuple(starts[v] for v in f.func.variables))
    extents = tuple(extent_of(x) for x in source.box)
    return ir.BulkCopy(
        to.buffer, place, source.buffer, f.func.element, tuple(at), tuple(needed), extents,
        source.strides, tuple(box), loops, f.bulk_at,
    )  # fmt: skip


def _refused(f: FuncPlan, why: str) -> HbcError:
    return error(
        f"`{f.func.name}` is not copied in bulk: {why}", f.bulk_at,
        "compute pieces of an input that are boxes of constant extents, in the order of its dimensions; or "
        "leave out `copy_in_bulk`",
    )  # fmt: skip
