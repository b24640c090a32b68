"""Masks of vector statements: which lanes are live, and what is read in the others."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, broadcast, or_, select
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.walk import map_children
from hbc.ir.vectors.lane_view import view


def live_terms(term: ir.Expr, mask: ir.Expr, op: ir.Op) -> ir.Expr:
    """The terms of a reduction where the mask holds, elsewhere what makes no difference; through
    sums within, so that all of it is one sum of masked terms."""
    if isinstance(term, ir.VectorReduce) and term.op is op:
        return ir.VectorReduce(op, live_terms(term.value, mask, op), term.lanes, term.span)
    live = spread(mask, term.type.lanes)
    rest = broadcast(identity_of(op, term.type.element), term.type.lanes)
    return select(live, masked(term, live), rest)


def conjuncts(condition: ir.Expr) -> list[ir.Expr]:
    """The conditions that must hold together."""
    if isinstance(condition, ir.Binary) and condition.op is ir.Op.AND:
        return [*conjuncts(condition.a), *conjuncts(condition.b)]
    if isinstance(condition, ir.Broadcast) and condition.value.type.lanes > 1:
        return [broadcast(c, condition.lanes) for c in conjuncts(condition.value)]
    return [condition]


def spread(mask: ir.Expr, lanes: int) -> ir.Expr:
    """A mask over the outer lanes, for all the inner lanes of each."""
    have = mask.type.lanes
    if have == lanes:
        return mask
    return view(mask, ((have, 1), (lanes // have, 0)))


def live_where(condition: ir.Expr, mask: ir.Expr | None) -> ir.Expr:
    """A condition in lanes: its loads are those of the live lanes, on the right of `and` only where
    the left holds."""
    if isinstance(condition, ir.Binary) and condition.op is ir.Op.AND:
        a = live_where(condition.a, mask)
        return and_(a, live_where(condition.b, a if mask is None else and_(mask, a)))
    return condition if mask is None else masked(condition, mask)


def masked(e: ir.Expr, mask: ir.Expr) -> ir.Expr:
    """Loads below read only the live lanes; those that are uniform read one place all share."""
    if isinstance(e, ir.Load) and e.type.lanes == mask.type.lanes:
        if isinstance(e.index, ir.Broadcast) and (
            e.mask is None or isinstance(e.mask, ir.Broadcast)
        ):
            return e
        both = mask if e.mask is None else and_(masked(e.mask, mask), mask)
        return ir.Load(e.buffer, masked(e.index, mask), e.type, both, e.span)
    if isinstance(e, ir.VectorReduce):
        inner = masked(e.value, spread(mask, e.value.type.lanes))
        return ir.VectorReduce(e.op, inner, e.lanes, e.span)
    if isinstance(e, ir.Gather) and e.value.type.lanes > 1:
        return ir.Gather(masked(e.value, _wanted(e, mask)), e.lanes, e.span)
    if isinstance(e, ir.Broadcast | ir.Gather):
        return e
    return map_children(e, lambda c: masked(c, mask) if c.type.lanes == mask.type.lanes else c)


def _wanted(e: ir.Gather, mask: ir.Expr) -> ir.Expr:
    """The lanes of what is picked from that a live lane picks."""
    users: list[list[int]] = [[] for _ in range(e.value.type.lanes)]
    for lane, pick in enumerate(e.lanes):
        if pick >= 0:
            users[pick].append(lane)
    wanted: ir.Expr | None = None
    for n in range(max(map(len, users))):  # a Gather picks at least one lane
        more = ir.Gather(mask, tuple(u[n] if n < len(u) else -1 for u in users))
        wanted = more if wanted is None else or_(wanted, more)
    return mask if wanted is None else wanted
