"""Loops of one iteration at most become conditions: compilers unroll what may run longer, for nothing.

    for n from m count max(-m, 0) { S }    ->    if max(-m, 0) > 0 { S[n = m] }        (m is -1 at least)

So begin Funcs that are kept from one iteration to the next, before the first one.
"""

from __future__ import annotations

from collections.abc import Mapping

from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import gt
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import contains, map_stmt, substitute, substitute_stmt

Values = Mapping[str, ir.Expr]


def at_most_once(kernel: Kernel) -> Kernel:
    """The kernel without such loops."""
    return kernel.map_body(lambda s: _stmt(s, NOTHING, {}))


def _stmt(s: ir.Stmt, facts: Facts, values: Values) -> ir.Stmt:
    if isinstance(s, ir.LetStmt) and s.value.type == INDEX and not contains(s.value, ir.Load):
        values = {**values, s.name: substitute(s.value, values)}
    if not isinstance(s, ir.For):
        return map_stmt(s, lambda e: e, lambda c: _stmt(c, facts, values))
    _, most = constant_bounds(simplify(substitute(s.extent, values)), facts)
    if s.kind is ir.LoopKind.SERIAL and not isinstance(s.extent, ir.Const) and most == 1:
        body = _stmt(substitute_stmt(s.body, {s.var: s.start}), facts, values)
        return ir.If(simplify(gt(s.extent, 0)), simplify_stmt(body))
    low, _ = constant_bounds(substitute(s.start, values), facts)
    if low is not None:
        facts = facts.with_range(s.var, Interval(ir.const_index(low), None))
    return map_stmt(s, lambda e: e, lambda c: _stmt(c, facts, values))
