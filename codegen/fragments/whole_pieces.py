"""What threads do to fragments under conditions that hold for whole ones but at edges, without these there.

    threads w { vector i: vector j: s[i, j] = select(64 * t + j < n, a[i, j], -inf) }
->  if 64 * t + 63 < n { threads w { .. s[i, j] = a[i, j] } } else { as it was }

One test for all lanes, where each tested for each of its elements: the tail of keys, the diagonal of a mask.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hbc.ir.algebra.bounds import bounds
from hbc.ir.algebra.facts import Facts, Interval, implied
from hbc.ir.algebra.linear import to_expr
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const_value, ge, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS
from hbc.ir.lang.types import INDEX, TILES_OF_LANES, Kind
from hbc.ir.lang.walk import contains, free_variables, map_stmt, nodes, rewrite, statements


def whole_pieces(kernel: Kernel) -> Kernel:
    """The kernel with such nests twice, while a vector loop still says all that it does."""
    tiles = {
        n.buffer
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory in TILES_OF_LANES
    }
    return kernel.map_body(lambda s: _stmt(s, tiles)) if tiles else kernel


def _stmt(s: ir.Stmt, tiles: Collection[str]) -> ir.Stmt:
    if not isinstance(s, ir.For) or s.kind not in THREADS:
        return map_stmt(s, lambda e: e, lambda c: _stmt(c, tiles))
    stores = [x for x in statements(s) if isinstance(x, ir.Store)]
    touches = any(isinstance(n, ir.Load | ir.Store) and n.buffer in tiles for n in nodes(s))
    if not touches or any(_is_product(x) for x in stores):
        return s
    loops = {x.var: x for x in statements(s) if isinstance(x, ir.For)}
    inner = {*loops, *(x.name for x in statements(s) if isinstance(x, ir.LetStmt))}
    ranges = Facts({
        name: Interval(x.start, simplify(sub(add(x.start, x.extent), 1))) for name, x in loops.items()
    })  # fmt: skip
    tests: dict[ir.Expr, ir.Expr] = {}
    for condition in dict.fromkeys(_conditions(s)):
        whole = _everywhere(condition, ranges, inner)
        if whole is not None:
            tests[condition] = whole
    if not tests:
        return s
    then = simplify_stmt(_with(s, tests))
    return ir.If(and_(*dict.fromkeys(tests.values())), then, s)


def _is_product(s: ir.Store) -> bool:
    """Whether a store adds up products, for which instructions are selected as they are."""
    found = list(nodes(s.value))
    return any(isinstance(n, ir.Load) and n.buffer == s.buffer for n in found) and any(
        isinstance(n, ir.Binary) and n.op is ir.Op.MUL and n.type != INDEX for n in found
    )


def _conditions(s: ir.Stmt) -> Iterator[ir.Expr]:
    """What values depend on, each part of a conjunction by itself."""
    for n in nodes(s):
        if isinstance(n, ir.Select):
            yield from _parts(n.condition)


def _parts(e: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(e, ir.Binary) and e.op is ir.Op.AND and e.type.element.kind is Kind.BOOL:
        yield from _parts(e.a)
        yield from _parts(e.b)
    else:
        yield e


def _everywhere(condition: ir.Expr, ranges: Facts, inner: Collection[str]) -> ir.Expr | None:
    """When the condition holds in all iterations; None where that is not known outside of them, or where
    it is the same in all."""
    forms = list(implied(condition))
    if len(forms) != 1 or contains(condition, ir.Load):
        return None
    if free_variables(condition).isdisjoint(inner):
        return None
    low = bounds(to_expr(forms[0]), ranges).lo
    if low is None or not free_variables(low).isdisjoint(inner):
        return None
    test = simplify(ge(low, 0))
    return None if const_value(test) is not None else test


def _with(s: ir.Stmt, holds: Collection[ir.Expr]) -> ir.Stmt:
    """The statement where these conditions hold."""

    def known(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Select):
            return e
        left = [c for c in _parts(e.condition) if c not in holds]
        if not left:
            return e.a
        return ir.Select(and_(*left), e.a, e.b, e.span)

    return map_stmt(s, lambda e: rewrite(e, known), lambda c: _with(c, holds))
