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
from hbc.ir.lang.nodes import Broadcast, Expr, Load, Ramp, Store, Var
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import map_children, nodes


def marked(s: Store) -> tuple[Store, dict[str, Expr]]:
    """The store with marks for the places of its arrays, and what they stand for, in canonical form.
    An index that is no nest of Ramp and Broadcast stays as it is."""
    places: dict[tuple[str, Expr], Var] = {}

    def index(e: Expr, buffer: str) -> Expr:
        match e:
            case Ramp(base=base, stride=stride, lanes=lanes):
                return Ramp(index(base, buffer), stride, lanes)
            case Broadcast(value=value, lanes=lanes):
                return Broadcast(index(value, buffer), lanes)
            case _ if e.type == INDEX:
                key = buffer, canonical(e)
                return places.setdefault(key, Var(f"#{len(places)}"))
            case _:
                return e

    def value(e: Expr) -> Expr:
        if isinstance(e, Load):
            mask = None if e.mask is None else value(e.mask)
            if e.type.lanes == 1:
                return e
            return Load(e.buffer, index(e.index, e.buffer), e.type, mask)
        return e if e.type.lanes == 1 else map_children(e, value)

    mask = None if s.mask is None else value(s.mask)
    found = Store(s.buffer, index(s.index, s.buffer), value(s.value), mask)
    return found, {place.name: at for (_, at), place in places.items()}


def placed(s: Statement, places: Mapping[str, Expr]) -> Statement:
    """A marked statement at its places."""

    def place(e: Expr, of: Read | None) -> Expr:
        return places.get(e.name, e) if of is not None and isinstance(e, Var) else e

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

    known: dict[tuple[Store, Hashable], Spellings] = field(default_factory=dict)

    def of(
        self, s: Store, read: Callable[[Store, Zeros], Spellings], zeros: Zeros, where: Hashable
    ) -> tuple[Spellings, dict[str, Expr]]:
        """The store by `read`, which is called once for all that are alike and stand alike: with marks
        for places, and what these stand for."""
        alike, places = marked(s)
        read_here = dict.fromkeys(n.buffer for n in nodes(s.value) if isinstance(n, Load))
        own = {b: zeros[b] for b in read_here if b in zeros}
        key = alike, (tuple(own.items()), where)
        if key not in self.known:
            self.known[key] = read(alike, own)
        return self.known[key], places
