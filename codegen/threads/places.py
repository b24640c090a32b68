"""Places in a GPU's block outside of its loops over threads: what is known of names there.

A block is gone through many times, and the same place is the same object each time.
"""

from __future__ import annotations

from dataclasses import field

from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.linear import linear
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import contains, substitute


@record
class Place:
    """`facts` of names, and the `values` that names stand for. `inside`: the places that have been asked
    for, by name and the identity of what it is, which stays with them."""

    facts: Facts = NOTHING
    values: dict[str, ir.Expr] = field(default_factory=dict)
    inside: dict[tuple[str, tuple[int, ...]], tuple[tuple[ir.Node, ...], Place]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def let(self, name: str, value: ir.Expr) -> Place:
        """Inside of `let name = value`."""
        key = name, (id(value),)
        if key not in self.inside:
            self.inside[key] = (value,), self._let(name, value)
        return self.inside[key][1]

    def loop(self, s: ir.For) -> Place:
        """Inside of a loop."""
        key = s.var, (id(s.start), id(s.extent))
        if key not in self.inside:
            self.inside[key] = (s.start, s.extent), self._loop(s)
        return self.inside[key][1]

    def _let(self, name: str, value: ir.Expr) -> Place:
        """Sums are put in place; other values keep their name, of which the range is known."""
        substituted = substitute(value, self.values)
        if value.type != INDEX or contains(value, ir.Load):
            return self
        if all(_counts(atom) for atom, _ in linear(substituted).terms):
            return Place(self.facts, {**self.values, name: substituted})
        return Place(self.facts.with_range(name, Interval(substituted, substituted)), self.values)

    def _loop(self, s: ir.For) -> Place:
        start, extent = substitute(s.start, self.values), substitute(s.extent, self.values)
        interval = Interval(start, simplify(sub(add(start, extent), 1)))
        return Place(self.facts.with_range(s.var, interval), self.values)


def _counts(atom: ir.Expr) -> bool:
    """Whether this is a name, or which of so many turns it is."""
    match atom:
        case ir.Var():
            return True
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const()):
            return all(isinstance(x, ir.Var) for x, _ in linear(a).terms)
        case _:
            return False
