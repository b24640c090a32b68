"""Rows of fragments in registers: each lane keeps those that it has elements of.

    threads w { lanes l count 32 { top[32 * w + l] = -inf } }
    threads w { lanes l count 32 { p[8 * (l / 4) + ..] = s[8 * (l / 4) + ..] - top[32 * w + l / 4 + 8] } }
->  threads w { lanes l count 32 { top[128 * w + 4 * l] = -inf; .. top[128 * w + 4 * l + 3] = -inf } }
    threads w { lanes l count 32 { p[8 * (l / 4) + ..] = s[8 * (l / 4) + ..] - top[128 * w + 4 * l + 1] } }

Neighbouring lanes share a row: each of them has a copy, and computes what it becomes. What a group of
lanes comes to is an update of the copies of all of them. Where four warps hold fragments together, each of
them has rows of its own: the row of a lane is `l / 4 % 8 + 16 * (l / 32)` then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, eq, floordiv, mod, mul
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    children,
    map_stmt,
    nodes,
    nodes_of,
    rewrite,
    statements,
    substitute,
    substitute_stmt,
)

_ROW = "row of a warp"  # not a name that a program can have
Lane = tuple[str, int]
"""The variable of a loop over lanes, and how many there are."""


@record
class Rows:
    """How lanes share the rows of a warp: `together` neighbours have each, `count` rows in all."""

    together: int
    count: int

    @property
    def apart(self) -> int:
        """Rows between two of one lane."""
        return WARP // self.together

    @property
    def own(self) -> int:
        """Rows of a lane."""
        return self.count // self.apart


def row_registers(kernel: Kernel) -> Kernel:
    """The kernel where arrays in registers that hold rows of fragments are laid out so."""
    return kernel.map_body(_outside)


def _outside(s: ir.Stmt) -> ir.Stmt:
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK:
        found = _found(s)
        return _changed(s, found) if found else s
    return map_stmt(s, lambda e: e, _outside)


def _found(s: ir.Stmt) -> dict[str, Rows]:
    """The arrays that are laid out anew, with their rows."""
    held = {
        n.buffer
        for n in statements(s)
        if isinstance(n, ir.Allocate) and n.memory is Memory.REGISTER
    }
    if not held:
        return {}
    accesses = [(n, lane) for n, lane in _accesses(s, None) if n.buffer in held]
    groups = {g for n, lane in accesses if (g := _group(n.index, lane))}
    if len(groups) != 1:
        return {}
    together = groups.pop()
    counts: dict[str, int] = {}
    for n, lane in accesses:
        odd = lane is None or n.index.type.lanes > 1
        if lane is not None and _group(n.index, lane) is None:
            odd = odd or counts.setdefault(n.buffer, lane[1]) != lane[1]
        if odd:
            held.discard(n.buffer)
    rows = {b: Rows(together, counts[b]) for b in sorted(held) if b in counts}
    rows = {b: r for b, r in rows.items() if r.count % r.apart == 0}
    while True:
        wrong = {n.buffer for n, lane in accesses if n.buffer in rows and not _fits(n, lane, rows)}
        wrong |= {b for loop in _row_loops(s, rows) for b in _unlike(loop, rows)}
        if not wrong:
            linked = _linked(s, rows, accesses)
            return {b: r for b, r in rows.items() if b in linked}
        rows = {b: r for b, r in rows.items() if b not in wrong}


def _linked(
    s: ir.Stmt, rows: Mapping[str, Rows], accesses: Sequence[tuple[ir.Load | ir.Store, Lane | None]]
) -> set[str]:
    """The arrays that lanes of fragments touch, and those that loops over rows touch with these."""
    linked = {n.buffer for n, lane in accesses if n.buffer in rows and _group(n.index, lane)}
    loops = [_touched(loop) & rows.keys() for loop in _row_loops(s, rows)]
    while more := {b for names in loops if names & linked for b in names} - linked:
        linked |= more
    return linked


def _touched(s: ir.Stmt) -> set[str]:
    return {n.buffer for n in nodes_of(s, ir.Load, ir.Store)}


def _accesses(n: ir.Node, lane: Lane | None) -> Iterator[tuple[ir.Load | ir.Store, Lane | None]]:
    """All accesses, with the loop over lanes around them."""
    if isinstance(n, ir.For) and n.kind is ir.LoopKind.LANE:
        lane = n.var, int(const_value(n.extent) or 0)
    if isinstance(n, ir.Load | ir.Store):
        yield n, lane
    for c in children(n):
        yield from _accesses(c, lane)


def _group(index: ir.Expr, lane: Lane | None) -> int | None:
    """How many neighbours have the same index, which counts groups of lanes."""
    if lane is None or lane[1] % WARP or index.type.lanes > 1:
        return None
    for atom, c in linear(index).terms:
        match atom:
            case ir.Binary(op=ir.Op.DIV, b=ir.Const(value=n)) if c == 1 and lane[1] == WARP:
                together = int(n)
            case ir.Binary(op=ir.Op.MOD, a=ir.Binary(op=ir.Op.DIV, b=ir.Const(value=n))) if c == 1:
                together = int(n)
            case _:
                continue
        if 0 < together < WARP and atom in _digits(lane, together, 0):
            return together
    return None


def _digits(lane: Lane, together: int, count: int) -> dict[ir.Expr, int]:
    """What a lane of fragments adds to the number of its row, with the factors, where each warp has `count`
    rows."""
    first = floordiv(ir.Var(lane[0]), together)
    if lane[1] == WARP:
        return {first: 1}
    return {mod(first, WARP // together): 1, floordiv(ir.Var(lane[0]), WARP): count}


def _fits(n: ir.Load | ir.Store, lane: Lane | None, rows: Mapping[str, Rows]) -> bool:
    """Whether an access finds its rows among those of its lane, once loops over rows are over lanes."""
    r = rows[n.buffer]
    if lane is None:
        return False
    if isinstance(n, ir.Store) and n.atomic is not None and n.warp != r.together:
        return False
    step, digits = r.apart, _digits(lane, r.together, r.count)
    if _group(n.index, lane) is None:
        step, digits = r.count, {ir.Var(lane[0]): 1}
        if lane[1] != r.count or (isinstance(n, ir.Store) and n.atomic is not None):
            return False
    form = linear(n.index)
    own = {a: c for a, c in form.terms if a in digits}
    others = [c for a, c in form.terms if a not in digits]
    return own == digits and form.constant % step == 0 and all(c % r.count == 0 for c in others)


def _row_loops(s: ir.Stmt, rows: Mapping[str, Rows]) -> Iterator[ir.For]:
    """The loops over lanes that count rows."""
    for n in nodes(s):
        if isinstance(n, ir.For) and _rows_of(n, rows) is not None:
            yield n


def _rows_of(loop: ir.For, rows: Mapping[str, Rows]) -> Rows | None:
    """The rows that a loop over lanes counts; None where it is over lanes of fragments."""
    if loop.kind is not ir.LoopKind.LANE:
        return None
    lane = loop.var, int(const_value(loop.extent) or 0)
    for n in nodes(loop):
        if isinstance(n, ir.Load | ir.Store) and n.buffer in rows and _group(n.index, lane) is None:
            return rows[n.buffer]
    return None


def _unlike(loop: ir.For, rows: Mapping[str, Rows]) -> set[str]:
    """The arrays of a loop over rows that have different ones, or that it touches with updates of others."""
    touched = _touched(loop) & rows.keys()
    plain = all(n.atomic is None for n in statements(loop) if isinstance(n, ir.Store))
    return set() if plain and len({rows[b] for b in touched}) == 1 else touched


def _changed(s: ir.Stmt, rows: Mapping[str, Rows]) -> ir.Stmt:
    match s:
        case ir.For(kind=ir.LoopKind.LANE, var=var) if (r := _rows_of(s, rows)) is not None:
            first = floordiv(ir.Var(var), r.together)
            body = _by_first(s.body, var, rows, r)
            parts = (substitute_stmt(body, {_ROW: add(first, r.apart * n)}) for n in range(r.own))
            loop = replace(s, extent=ir.const_index(WARP), body=block(*parts))
            return _changed(simplify_stmt(loop), rows) if r.own else loop
        case ir.For(kind=ir.LoopKind.LANE):
            return _in_lanes(s, (s.var, int(const_value(s.extent) or 0)), rows)
        case ir.Allocate(buffer=buffer) if buffer in rows:
            extent = simplify(mul(s.extent, rows[buffer].together))
            return replace(s, extent=extent, body=_changed(s.body, rows))
        case _:
            return map_stmt(s, lambda e: e, lambda c: _changed(c, rows))


def _by_first(s: ir.Stmt, var: str, rows: Mapping[str, Rows], r: Rows) -> ir.Stmt:
    """The body of a loop over rows, by their number: what other memory gets, the first lane of each group
    stores."""

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Store):
            made = substitute_stmt(s, {var: ir.Var(_ROW)})
            first = eq(mod(ir.Var(var), r.together), 0)
            return made if s.buffer in rows else ir.If(first, made)
        return map_stmt(s, lambda e: substitute(e, {var: ir.Var(_ROW)}), stmt)

    return stmt(s)


def _in_lanes(s: ir.Stmt, lane: Lane, rows: Mapping[str, Rows]) -> ir.Stmt:
    def expr(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in rows:
            return replace(e, index=_own(e.index, lane, rows[e.buffer]))
        return e

    s = map_stmt(s, lambda e: rewrite(e, expr), lambda c: _in_lanes(c, lane, rows))
    if not isinstance(s, ir.Store) or s.buffer not in rows:
        return s
    r = rows[s.buffer]
    if s.atomic is None:
        return replace(s, index=_own(s.index, lane, r))
    first = mul(floordiv(ir.Var(lane[0]), r.together), r.together)
    base = _own(s.index, lane, r, first)
    return replace(
        s,
        index=ir.Ramp(base, ir.const_index(r.own), r.together),
        value=ir.Broadcast(s.value, r.together),
        mask=None if s.mask is None else ir.Broadcast(s.mask, r.together),
    )


def _own(index: ir.Expr, lane: Lane, r: Rows, of: ir.Expr | None = None) -> ir.Expr:
    """Where a lane has the copy of the row at an index; that of lane `of`, where one is named."""
    digits = _digits(lane, r.together, r.count)
    form = linear(index)
    row = form.constant % r.count
    made = Linear((form.constant - row) * r.together + row // r.apart)
    made = plus(made, linear(ir.Var(lane[0]) if of is None else of), r.own)
    for a, c in form.terms:
        if a not in digits:
            made = plus(made, of_atom(a, c * r.together))
    return simplify(to_expr(made))


def own_copies(s: ir.Stmt, lane: str | None = None) -> ir.Stmt:
    """The statement where each lane updates its own copy by what its group comes to. Only for printing."""
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.LANE:
        lane = s.var
    s = map_stmt(s, lambda e: e, lambda c: own_copies(c, lane))
    match s:
        case ir.Store(index=ir.Ramp(base=base, stride=stride), value=ir.Broadcast(value=value)) if (
            s.atomic is not None and 0 < s.warp < WARP and lane is not None
        ):
            form = linear(base)
            atom = floordiv(ir.Var(lane), s.warp)
            own = plus(Linear(form.constant), linear(ir.Var(lane)), int(const_value(stride) or 0))
            for a, c in form.terms:
                if a != atom:
                    own = plus(own, of_atom(a, c))
            mask = s.mask.value if isinstance(s.mask, ir.Broadcast) else s.mask
            return replace(s, index=simplify(to_expr(own)), value=value, mask=mask)
        case _:
            return s
