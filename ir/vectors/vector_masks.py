"""Masks of vector statements: which lanes are live, and what is read in the others."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import coefficient, of_atom, shifted, to_expr, without
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, broadcast, minimum, or_, select, sub
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.walk import contains, free_variables, map_children, mentions, nodes, rewrite
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.lane_view import view
from hbc.ir.vectors.take import Take


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


def plain_loop(s: ir.For) -> ir.For:
    """A vector loop one lane after the other, as far as there are live ones:

    for vector v in 4: if (v < n & c) ..   ->   for v in min(4, n): if (c) ..
    """
    plain = replace(s, kind=ir.LoopKind.SERIAL)
    if not isinstance(s.body, ir.If) or s.body.otherwise is not None:
        return plain
    parts = conjuncts(s.body.condition)
    ends = {part: end for part in parts if (end := _end(part, s.var)) is not None}
    if not ends:
        return plain
    kept = [part for part in parts if part not in ends]
    body = replace(s.body, condition=and_(*kept)) if kept else s.body.then
    counts = (sub(end, s.start) for end in ends.values())
    return replace(plain, extent=reduce(minimum, counts, s.extent), body=body)


def _end(condition: ir.Expr, var: str) -> ir.Expr | None:
    """What the variable is less than, where the condition says that and nothing else."""
    forms = list(implied(condition))
    if len(forms) != 1 or coefficient(forms[0], var) != -1:
        return None
    rest = to_expr(shifted(without(forms[0], of_atom(ir.Var(var)).keys[0]), 1))
    return None if mentions(rest, var) or contains(rest, ir.Load) else rest


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
    """Loads below read only the live lanes; those that are uniform read one place all share, where it moves
    with the vector only if there is a live lane."""
    if isinstance(e, ir.Load) and e.type.lanes == mask.type.lanes:
        if isinstance(e.index, ir.Broadcast) and (
            e.mask is None or isinstance(e.mask, ir.Broadcast)
        ):
            return _if_live(e, mask)
        both = mask if e.mask is None else and_(masked(e.mask, mask), mask)
        return ir.Load(e.buffer, masked(e.index, mask), e.type, both, e.span)
    if isinstance(e, ir.VectorReduce):
        inner = masked(e.value, spread(mask, e.value.type.lanes))
        return ir.VectorReduce(e.op, inner, e.lanes, e.span)
    if isinstance(e, ir.Gather) and e.value.type.lanes > 1:
        return ir.Gather(masked(e.value, _wanted(e, mask)), e.lanes, e.span)
    if isinstance(e, ir.Broadcast) and e.value.type.lanes == 1:
        value = rewrite(e.value, lambda n: _if_live(n, mask) if isinstance(n, ir.Load) else n)
        return e if value is e.value else broadcast(value, e.lanes)
    if isinstance(e, ir.Broadcast | ir.Gather):
        return e
    return map_children(e, lambda c: masked(c, mask) if c.type.lanes == mask.type.lanes else c)


def _if_live(e: ir.Load, mask: ir.Expr) -> ir.Load:
    """One place for all lanes, read where one of them is live: `s[k / 32]` for the lanes from k = 64 on, of
    which none is below 40, may lie behind the array. (What does not speak of the lanes at all is there
    without any of them: only a quotient of theirs is one number.)"""
    quotient = any(isinstance(n, ir.Binary) and n.op is ir.Op.DIV for n in nodes(e.index))
    if not quotient or free_variables(e.index).isdisjoint(free_variables(mask)):
        return e
    live = _any(mask)
    both = live if e.type.lanes == 1 else broadcast(live, e.type.lanes)
    return ir.Load(
        e.buffer, e.index, e.type, both if e.mask is None else and_(e.mask, both), e.span
    )


def _any(mask: ir.Expr) -> ir.Expr:
    """Whether one of the lanes is live: the first, where the others lie further behind all limits."""
    for c in conjuncts(mask):
        below = isinstance(c, ir.Binary) and c.op in (ir.Op.LT, ir.Op.LE)
        known = lane_offsets(c.a) if isinstance(c, ir.Binary) and below else None
        fixed = (
            isinstance(c, ir.Binary) and isinstance(c.b, ir.Broadcast) and c.b.value.type.lanes == 1
        )
        if known is None or not fixed or min(known[1]) < known[1][0]:
            return ir.VectorReduce(ir.Op.OR, mask, 1)
    return Take()(mask, (0,))


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
