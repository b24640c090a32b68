"""`swizzle_storage`: rows of shared memory whose units change places, so that columns lie in many banks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hbc.frontend.directives.loops import integer
from hbc.frontend.directives.place import variable_of
from hbc.frontend.plans.place_on_gpu import Place, place_of
from hbc.frontend.plans.plan import FuncPlan, Plan
from hbc.frontend.program.funcs import Directive
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import Memory

UNIT_BYTES = 16
"""What the widest access of a thread moves: units of it stay together unless the schedule says less."""


def swizzle_storage(plan: Plan, f: FuncPlan, d: Directive) -> FuncPlan:
    """In each row of a variable's values, units of so many change places."""
    given = integer(d, 1) if len(d.args) > 1 else max(1, UNIT_BYTES // f.func.element.bytes)
    return replace(f, swizzle=(variable_of(f, d), given), swizzled_at=d.span)


def check_swizzle(plan: Plan, f: FuncPlan) -> Iterator[Diagnostic]:
    """What is wrong with the swizzle that a schedule asks for."""
    if f.swizzle is None:
        return
    name, (variable, unit) = f.func.name, f.swizzle
    last = (f.storage_order or f.func.variables)[-1]
    if variable != last:
        yield Diagnostic(
            f"the elements of a row of `{name}` are those of `{last}`, not of `{variable}`",
            f.swizzled_at,
            f"`swizzle_storage({last})`, or `reorder_storage` with `{variable}` as the last",
        )
    if unit < 1 or unit & (unit - 1) or unit * f.func.element.bytes > UNIT_BYTES:
        yield Diagnostic(
            f"units of {unit} elements of `{name}` cannot change places: a power of two can, of "
            f"{UNIT_BYTES} bytes at most", f.swizzled_at,
            f"leave the number out for units of {UNIT_BYTES} bytes",
        )  # fmt: skip
    shared = place_of(plan, f.compute if f.store is None else f.store) is Place.BLOCK
    if not shared or f.memory not in (Memory.AUTO, Memory.SHARED):
        yield Diagnostic(
            f"`{name}` is not in memory that its block shares: nothing else is swizzled",
            f.swizzled_at,
            f"`{name}.compute_at(..)` a loop outside of those over threads, and `store_in(shared)`",
        )  # fmt: skip


def whole_row(f: FuncPlan, variable: str, extent: ir.Expr) -> ir.Expr:
    """The extent of a dimension in memory: rows that are swizzled have a power of two."""
    least = const_value(extent)
    if f.swizzle is None or f.swizzle[0] != variable or least is None:
        return extent
    return ir.const_index(max(1 << max(0, int(least) - 1).bit_length(), 2 * f.swizzle[1]))


def swizzle_of(f: FuncPlan, row: ir.Expr) -> ir.Swizzle | None:
    """How an array with rows of so many elements is swizzled."""
    length = const_value(row)
    return None if f.swizzle is None or length is None else ir.Swizzle(f.swizzle[1], int(length))
