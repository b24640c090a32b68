"""Statements that differ in the places of their arrays alone: copies by unrolled loops.

The place of each array is marked by a variable; what was found out about a marked statement holds for
all that look like it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.operands.statement import Zeros
from hbc.eqsat.tensors.tensor import Read
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import map_children, nodes_of


def marked(s: ir.Store) -> tuple[ir.Store, dict[str, ir.Expr]]:
    """The store with marks for the places of its arrays, and what they stand for, in canonical form.
    An index that is no nest of Ramp and Broadcast stays as it is."""
    places: dict[tuple[str, ir.Expr], ir.Var] = {}

    def index(e: ir.Expr, buffer: str) -> ir.Expr:
        match e:
            case ir.Ramp(base=base, stride=stride, lanes=lanes):
                return ir.Ramp(index(base, buffer), stride, lanes)
            case ir.Broadcast(value=value, lanes=lanes):
                return ir.Broadcast(index(value, buffer), lanes)
            case _ if e.type == INDEX:
                key = buffer, canonical(e)
                return places.setdefault(key, ir.Var(f"#{len(places)}"))
            case _:
                return e

    def value(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load):
            mask = None if e.mask is None else value(e.mask)
            if e.type.lanes == 1:
                return e
            return ir.Load(e.buffer, index(e.index, e.buffer), e.type, mask)
        return e if e.type.lanes == 1 else map_children(e, value)

    mask = None if s.mask is None else value(s.mask)
    store = ir.Store(s.buffer, index(s.index, s.buffer), value(s.value), mask)
    return store, {place.name: at for (_, at), place in places.items()}


def placed(s: Statement, places: Mapping[str, ir.Expr]) -> Statement:
    """A marked statement at its places."""

    def place(e: ir.Expr, of: Read | None) -> ir.Expr:
        return places.get(e.name, e) if of is not None and isinstance(e, ir.Var) else e

    return s.mapped(place)


@record
class Spellings:
    """A store as statements: over the dimensions that suit the instructions best, those that they may
    do, and over the coarsest box."""

    first: Statement
    done: tuple[Statement, ...]
    whole: Statement


@mutable
class Readings:
    """Stores as statements, by what they look like and by all else that decides it."""

    known: dict[tuple[ir.Store, Hashable], Spellings] = field(default_factory=dict)

    def of(
        self,
        s: ir.Store,
        read: Callable[[ir.Store, Zeros], Spellings],
        zeros: Zeros,
        where: Hashable,
    ) -> tuple[Spellings, dict[str, ir.Expr]]:
        """The store by `read`, which is called once for all that are alike and stand alike: with marks
        for places, and what these stand for."""
        alike, places = marked(s)
        read_here = dict.fromkeys(n.buffer for n in nodes_of(s.value, ir.Load))
        own = {b: zeros[b] for b in read_here if b in zeros}
        key = alike, (tuple(own.items()), where)
        if key not in self.known:
            self.known[key] = read(alike, own)
        return self.known[key], places
