"""Numbers that count in a circle along with a loop, as variables of their own.

index_t ko_slot = 0;
for (index_t ko = 0; ko < n; ++ko) {
    ... ko_slot ...                            // was: const index_t ko_slot = ko % 3;
    ko_slot = ko_slot == 2 ? 0 : ko_slot + 1;
}

A remainder is a product of 64 bits and two more instructions, and nvcc computes what depends on it, such as
where a slot begins, from the counter and the quotient apart: two instructions for each address.
"""

from __future__ import annotations

from hbc.codegen.c.stmt import braced, loop_end, statement
from hbc.codegen.text.ranges import nonnegative
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Unit
from hbc.ir.algebra.linear import linear
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.walk import map_stmt, statements, substitute


def turning_loop(s: ir.For, unit: Unit) -> bool:
    """Prints a loop with such numbers; False for others."""
    turns = {
        x.name: x
        for x in statements(s.body)
        if isinstance(x, ir.LetStmt) and x.name in unit.read_names and _circle(x.value, s.var)
    }
    if s.kind is not ir.LoopKind.SERIAL or not turns:
        return False
    unit.turning.update(turns)
    with braced("", unit):
        for x in turns.values():
            first = scalar(simplify(substitute(x.value, {s.var: s.start})), unit)
            name = unit.scope.declare(x.name, nonnegative=True)
            unit.out.line(f"{unit.index} {name} = {first};")
        start, end = scalar(s.start, unit), loop_end(s, unit)
        low = nonnegative(s.start, unit.scope)
        unit.scope.push()
        var = unit.scope.declare(s.var, nonnegative=low)
        with unit.out.braces(f"for ({unit.index} {var} = {start}; {var} < {end}; ++{var})"):
            statement(_without(s.body, turns), unit, last=False)
            for x in turns.values():
                name, last = unit.scope.find(x.name).text, _circle(x.value, s.var) - 1
                unit.out.line(f"{name} = {name} == {last} ? 0 : {name} + 1;")
        unit.scope.pop()
    return True


def _circle(e: ir.Expr, var: str) -> int:
    """How many values a number has that goes up by 1 in each iteration and then begins again; 0 where it is
    no such, or no more than some bits of the counter."""
    if not isinstance(e, ir.Binary) or e.op is not ir.Op.MOD:
        return 0
    count = const_value(e.b)
    terms = dict(linear(e.a).terms)
    if not isinstance(count, int) or count < 1 or count & (count - 1) == 0:
        return 0
    return count if terms.get(ir.Var(var)) == 1 else 0


def _without(s: ir.Stmt, names: dict[str, ir.LetStmt]) -> ir.Stmt:
    if isinstance(s, ir.LetStmt) and s.name in names and s.value == names[s.name].value:
        return _without(s.body, names)
    return map_stmt(s, lambda e: e, lambda c: _without(c, names))
