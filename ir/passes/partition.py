"""Serial loops around a condition that fails only near their end run without it up to there.

    for j in (n + 7) / 8: vector u in 8: if 8 * j + u < n: S
->  for j in n / 8: vector u in 8: S;  for j from n / 8 to (n + 7) / 8: vector u in 8: if ...

What is tested is the condition in the last of the lanes; only loops whose iterations would test it
again and again are divided: the innermost serial ones.

Where vectors load from places that are held within limits, as of an array whose edges are repeated, the loop
is divided in three: in the middle no limit is met, and what is loaded is adjacent.

    for x in W / 16: vector u in 16: A[max(16 * x + u - 1, 0)]
->  if W / 16 > 0: vector u in 16: A[max(u - 1, 0)]
    for x from 1 to W / 16: vector u in 16: A[16 * x + u - 1]

A schedule may say of a loop that it stays whole, or that it is divided wherever that decides a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from hbc.ir.algebra.bounds import Interval, bounds
from hbc.ir.algebra.decided import middle
from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import coefficient, of_atom, to_expr, without
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, clamp, floordiv, lt, maximum, minimum, sub
from hbc.ir.lang.types import TILES, Kind, Memory
from hbc.ir.lang.walk import (
    block,
    contains,
    free_variables,
    map_stmt,
    statements,
    substitute_stmt,
)
from hbc.ir.vectors.clamps import Ranges, clamped_indices, lane_by_lane, without_clamps


def partition(s: ir.Stmt) -> ir.Stmt:
    """Divides the loops of a statement."""
    fixed = {Memory.REGISTER, *TILES}
    kept = {x.buffer for x in statements(s) if isinstance(x, ir.Allocate) and x.memory in fixed}
    return _partition(s, kept)


def _partition(s: ir.Stmt, kept: Collection[str]) -> ir.Stmt:
    """`kept`: arrays in registers, of vectors or of tiles."""
    if isinstance(s, ir.For) and s.marks.parted is not None:
        return _as_asked(s, kept)
    s = map_stmt(s, lambda e: e, lambda c: _partition(c, kept))
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.VECTOR and isinstance(s.body, ir.If):
        return lane_by_lane(s, kept)
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.SERIAL:
        return s
    below = list(statements(s.body))
    inner = [x for x in below if isinstance(x, ir.For)]
    loops = [x for x in inner if x.kind not in (ir.LoopKind.VECTOR, ir.LoopKind.UNROLL)]
    if any(x.kind is not ir.LoopKind.SERIAL or not isinstance(x.extent, ir.Const) for x in loops):
        return s
    names = {s.var, *(x.var for x in inner), *(x.name for x in below if isinstance(x, ir.LetStmt))}
    if loops or isinstance(s.extent, ir.Const):
        return _within_limits(s, inner, names, kept)
    limits = [
        (end, condition)
        for condition in _conditions(s.body)
        if (end := _limit(condition, s.var, inner)) is not None
        and free_variables(end).isdisjoint(names)
    ]
    if not limits:
        return _within_limits(s, inner, names, kept)
    first, rest = _divided(s, limits)
    return block(_within_limits(first, inner, names, kept), rest)


def _as_asked(s: ir.For, kept: Collection[str]) -> ir.Stmt:
    """A loop that stays whole, or is divided where that decides a condition. At the ends, which are short,
    nothing runs ahead."""
    asked, s = s.marks.parted, replace(s, marks=replace(s.marks, parted=None))
    found = middle(s) if asked else None
    if found is None:
        return _partition(s, kept) if asked else replace(s, body=_partition(s.body, kept))
    within = replace(
        s, start=simplify(add(s.start, found.before)),
        extent=simplify(sub(found.until, found.before)), body=found.body,
    )  # fmt: skip
    body = lane_by_lane(_partition(s.body, kept), kept)
    end = replace(s, body=body, marks=replace(s.marks, stages=1))
    first = replace(end, extent=found.before)
    last = replace(
        end, start=simplify(add(s.start, found.until)), extent=simplify(sub(s.extent, found.until))
    )
    pieces = [
        x for x in (first, _partition(within, kept), last)
        if not isinstance(x, ir.For) or x.extent != ir.const_index(0)
    ]  # fmt: skip
    return block(*pieces)


def _within_limits(
    s: ir.For, inner: Collection[ir.For], names: Collection[str], kept: Collection[str]
) -> ir.Stmt:
    """The loop with the iterations apart in which no index of a vector meets a limit."""
    if all(x.kind is not ir.LoopKind.VECTOR for x in inner):
        return s
    clamps = clamped_indices(s.body, s.var, _ranges(inner), names)
    ends_known = all(_is_known(e) for c in clamps.values() for e in (c.first, c.end))
    if not clamps or (isinstance(s.extent, ir.Const) and not ends_known):
        return s
    spans = clamps.values()
    before = _furthest(ir.const_index(0), [sub(c.first, s.start) for c in spans if c.first])
    once = before == ir.const_index(1)
    before = simplify(minimum(before, s.extent))
    ends = s.extent
    for c in spans:
        ends = ends if c.end is None else minimum(ends, sub(c.end, s.start))
    until = simplify(maximum(ends, before))
    first: ir.Stmt = lane_by_lane(replace(s, extent=before), kept)
    if once:  # in the first iteration, each lane's place is known but for the other limits
        others = {n: c for n, c in clamps.items() if c.end is not None}
        alone = substitute_stmt(without_clamps(s.body, others, s.var), {s.var: s.start})
        condition = and_(lt(0, ends), *(c.alone for c in others.values()))
        first = ir.If(simplify(condition), alone, first)
    middle = replace(
        s, start=simplify(add(s.start, before)), extent=simplify(sub(until, before)),
        body=without_clamps(s.body, clamps, s.var),
    )  # fmt: skip
    rest = replace(s, start=simplify(add(s.start, until)), extent=simplify(sub(s.extent, until)))
    return block(first, middle, lane_by_lane(rest, kept))


def _is_known(e: ir.Expr | None) -> bool:
    return e is None or isinstance(e, ir.Const)


def _furthest(least: ir.Expr, others: Iterable[ir.Expr]) -> ir.Expr:
    for e in others:
        least = maximum(least, e)
    return simplify(least)


def _divided(s: ir.For, limits: list[tuple[ir.Expr, ir.Expr]]) -> tuple[ir.For, ir.For]:
    """The loop up to the first iteration in which one of the conditions can fail, and the rest."""
    count: ir.Expr = s.extent
    for end, _ in limits:
        count = clamp(simplify(sub(end, s.start)), ir.const_index(0), count)
    count = simplify(count)
    always = _without(s.body, {c for _, c in limits})
    first = replace(s, extent=count, body=always)
    rest = replace(s, start=simplify(add(s.start, count)), extent=simplify(sub(s.extent, count)))
    return first, rest


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    """What the statement tests, each part of a conjunction by itself."""
    for x in statements(s):
        if isinstance(x, ir.If):
            yield from _parts(x.condition)


def _parts(condition: ir.Expr) -> Iterator[ir.Expr]:
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b) if condition.type.element.kind is Kind.BOOL:
            yield from _parts(a)
            yield from _parts(b)
        case _:
            yield condition


def _limit(condition: ir.Expr, var: str, inner: Collection[ir.For]) -> ir.Expr | None:
    """Below which value of the loop variable the condition holds in all lanes of the inner loops."""
    forms = list(implied(condition))
    if len(forms) != 1 or contains(condition, ir.Load):
        return None
    c = coefficient(forms[0], var)
    if c >= 0:
        return None
    rest = to_expr(without(forms[0], of_atom(ir.Var(var)).keys[0]))
    low = bounds(rest, _ranges(inner)).lo
    # low - |c| * var >= 0
    return None if low is None else simplify(add(floordiv(low, ir.const_index(-c)), 1))


def _ranges(inner: Collection[ir.For]) -> Ranges:
    """Of each variable, over all of its loops: the pieces of one that was divided are called alike."""
    ranges: dict[str, Interval] = {}
    for x in inner:
        start, last = x.start, simplify(sub(add(x.start, x.extent), 1))
        other = ranges.get(x.var)
        if other is not None and other.lo is not None and other.hi is not None:
            start = simplify(minimum(other.lo, start))
            last = simplify(maximum(other.hi, last))
        ranges[x.var] = Interval(start, last)
    return ranges


def _without(s: ir.Stmt, holds: set[ir.Expr]) -> ir.Stmt:
    """The statement where these conditions hold."""
    if not isinstance(s, ir.If):
        return map_stmt(s, lambda e: e, lambda c: _without(c, holds))
    left = [c for c in _parts(s.condition) if c not in holds]
    then = _without(s.then, holds)
    if not left:
        return then
    other = None if s.otherwise is None else _without(s.otherwise, holds)
    return ir.If(and_(*left), then, other)
