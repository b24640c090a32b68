"""Memory that is asked for further out than it is used: `hoist_storage`.

    for y { n = min(y + 1, 8); allocate f: [n * W]; ... }
->  allocate f: [8 * W]; for y { n = min(y + 1, 8); ... }

Each iteration has the memory to itself, one after the other. There is room for the largest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import reduce

from hbc.frontend.plans.plan import At, FuncPlan, Root
from hbc.ir.algebra.bounds import Interval, bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, maximum, mul, neg, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import (
    contains,
    free_variables,
    map_stmt,
    rename_buffers,
    statements,
)

Ranges = Mapping[str, Interval]


@mutable
class _Found:
    """The allocations of an array of a Func, and how much each asks for at most."""

    buffers: frozenset[str]
    allocations: list[ir.Allocate] = field(default_factory=list)
    most: list[ir.Expr | None] = field(default_factory=list)

    def visit(self, s: ir.Stmt, ranges: Ranges) -> ir.Stmt:
        match s:
            case ir.Allocate(buffer=buffer) if buffer in self.buffers:
                self.allocations.append(s)
                self.most.append(at_most(s.extent, ranges))
                return self.visit(s.body, ranges)
            case ir.For(var=name, start=start, extent=extent):
                last = simplify(sub(add(start, extent), 1))
                ranges = {**ranges, name: Interval(start, last)}
            case ir.LetStmt(name=name, value=value):
                known = value.type == INDEX and not contains(value, ir.Load)
                ranges = {**ranges, name: Interval(value, value) if known else Interval(None, None)}
            case _:
                pass
        return map_stmt(s, lambda e: e, lambda c: self.visit(c, ranges))


def at_most(extent: ir.Expr, ranges: Ranges) -> ir.Expr | None:
    """The extent in the largest iteration, if that is made of what is known outside."""
    high = _outside(bounds(extent, ranges).hi, ranges)
    if high is not None or not isinstance(extent, ir.Binary) or extent.op is not ir.Op.MUL:
        return high
    sides = [_magnitude(x, ranges) for x in (extent.a, extent.b)]
    return None if None in sides else reduce(mul, [x for x in sides if x is not None])


def _magnitude(e: ir.Expr, ranges: Ranges) -> ir.Expr | None:
    """No less than the expression or its opposite: factors may both have changed their signs."""
    ends = [at_most(x, ranges) for x in (e, simplify(neg(e)))]
    known = [x for x in ends if x is not None]
    return simplify(maximum(*known)) if len(known) == 2 else None


def _outside(e: ir.Expr | None, ranges: Ranges) -> ir.Expr | None:
    inside = e is None or contains(e, ir.Load) or not free_variables(e).isdisjoint(ranges)
    return None if inside else e


def lifted(f: FuncPlan, buffers: frozenset[str], s: ir.Stmt) -> tuple[ir.Allocate | None, ir.Stmt]:
    """One allocation for all those of an array of the Func, which these buffers hold, and the statement
    without them; None without any. HbcError where no bound of the sizes is known here."""
    found = _Found(buffers)
    rest = found.visit(s, {})
    if not found.allocations:
        return None, s
    size: ir.Expr = ir.const_index(0)
    for most in dict.fromkeys(found.most):
        if most is None:
            raise error(
                f"how much memory `{f.func.name}` needs at most is not known where it is hoisted to",
                f.hoist.span if isinstance(f.hoist, At | Root) else f.span,
                "hoist it less far, or leave it out: then each iteration asks for what it needs",
            )  # fmt: skip
        size = maximum(size, most)
    taken = {x.buffer for x in statements(rest) if isinstance(x, ir.Allocate)}
    first = found.allocations[0]
    name, count = first.buffer, 1
    while name in taken:
        count += 1
        name = f"{first.buffer}_{count}"
    rest = rename_buffers(rest, {b: name for b in buffers if b != name})
    return replace(first, buffer=name, extent=simplify(size)), rest
