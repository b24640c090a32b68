"""`copy_in_bulk`: pieces of an input come to shared memory by the instructions that copy boxes of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hbc.frontend.plans.place_on_gpu import Place, place_of
from hbc.frontend.plans.plan import FuncPlan, Plan
from hbc.frontend.program.funcs import Directive
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory


def copy_in_bulk(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """Copied by the unit that copies boxes of arrays, where strides allow; else as its loops say."""
    return replace(f, bulk=True, bulk_at=d.span)


def check_bulk(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """What is wrong with a copy that a schedule asks to be done so."""
    if not f.bulk:
        return
    name = f.func.name
    shared = place_of(plan, f.compute if f.store is None else f.store) is Place.BLOCK
    if not shared or f.memory not in (Memory.AUTO, Memory.SHARED):
        yield Diagnostic(
            f"`{name}` is not in memory that its block shares: nothing else is copied in bulk", f.bulk_at,
            f"`{name}.compute_at(..)` a loop outside of those over threads, and `store_in(shared)`",
        )  # fmt: skip
    if f.func.updates or not isinstance(f.func.pure, ir.Access):
        yield Diagnostic(
            f"`{name}` is no copy of an input, and computed elements are not copied in bulk", f.bulk_at,
            "`A.in(f).copy_in_bulk()` copies what `f` reads of an input `A`",
        )  # fmt: skip
    if f.pads or f.swizzle is not None:
        yield Diagnostic(
            f"the rows of `{name}` are padded or swizzled: what is copied in bulk lies as the "
            "instructions that read it say", f.bulk_at,
            "leave out `pad_storage` and `swizzle_storage`",
        )  # fmt: skip
