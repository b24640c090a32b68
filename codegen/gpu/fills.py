"""Loop nests that fill arrays: their iterations by number, and nests that follow each other as one.

    for i { for a count 16 { t[32 * i + a] = x }; for b count 16 { t[32 * i + b + 16] = y } }
    ->  for i { for n count 16 { t[32 * i + n] = x; t[32 * i + n + 16] = y } }

so that threads share all of it, where each would do one i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from hbc.ir.algebra.bounds import Facts, Interval, constant_bounds
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const_value, floordiv, lt, mod, mul, sub
from hbc.ir.lang.walk import map_stmt, nodes, nodes_of, statements, substitute_stmt


def only_fills(s: ir.Stmt) -> bool:
    """Whether all there is are serial loops, conditions and names around stores."""
    while True:
        match s:
            case ir.Store():
                return True
            case ir.For(kind=ir.LoopKind.SERIAL, body=body) | ir.LetStmt(body=body):
                s = body
            case ir.If(then=then, otherwise=None):
                s = then
            case ir.Block(body=parts):
                return all(isinstance(p, ir.Store) or only_fills(p) for p in parts)
            case _:
                return False


def perfect(s: ir.Stmt) -> tuple[list[ir.For], ir.Stmt]:
    """The loops of a nest with but conditions and names between them, and the body."""
    loops: list[ir.For] = []
    bound: set[str] = set()
    conditions: list[ir.Expr] = []
    while isinstance(s, ir.For | ir.If | ir.LetStmt):
        if isinstance(s, ir.LetStmt):
            s = substitute_stmt(s.body, {s.name: s.value})
            continue
        if isinstance(s, ir.If):
            if s.otherwise is not None:
                break
            conditions.append(s.condition)
            s = s.then
            continue
        if bound & _names(s):
            break
        loops.append(s)
        bound.add(s.var)
        s = s.body
    return loops, ir.If(and_(*conditions), s) if conditions else s


def _names(s: ir.For) -> set[str]:
    return {n.name for e in (s.start, s.extent) for n in nodes_of(e, ir.Var)}


def at_number(loops: Sequence[ir.For], number: ir.Expr, body: ir.Stmt) -> ir.Stmt:
    """The body at one of the iterations of a nest, by its number."""
    inner: ir.Expr = ir.const_index(1)
    values: dict[str, ir.Expr] = {}
    for n, loop in reversed(list(enumerate(loops))):
        digit = number if const_value(inner) == 1 else floordiv(number, inner)
        if n > 0:
            digit = mod(digit, loop.extent)
        values[loop.var] = add(loop.start, digit)
        inner = mul(inner, loop.extent)
    return substitute_stmt(body, values)


def iterations(loops: Sequence[ir.For]) -> ir.Expr:
    """How many a nest has."""
    count: ir.Expr = ir.const_index(1)
    for loop in loops:
        count = mul(count, loop.extent)
    return count


def joined(s: ir.Stmt, fresh: Callable[[str], str]) -> ir.Stmt:
    """The statement with nests of constant extents that follow each other as one over the most iterations,
    where neither the order of their stores nor that of their loads matters."""
    if not isinstance(s, ir.Block):
        return map_stmt(s, lambda e: e, lambda x: joined(x, fresh))
    nests = [perfect(part) for part in s.body]
    counts = [const_value(iterations(loops)) for loops, _ in nests]
    if len(nests) < 2 or None in counts or set(counts) == {1} or not _independent(nests):
        return s
    numbers = [int(n or 0) for n in counts]
    name, most = fresh("n"), max(numbers)
    number = ir.Var(name)
    parts = [
        body if n == most else ir.If(lt(number, n), body)
        for n, (loops, inner) in zip(numbers, nests, strict=True)
        for body in [at_number(loops, number, inner)]
    ]
    body = ir.Block(tuple(parts))
    return ir.For(name, ir.const_index(0), ir.const_index(most), ir.LoopKind.SERIAL, body)


def _independent(nests: Sequence[tuple[list[ir.For], ir.Stmt]]) -> bool:
    """Whether none reads what any of them stores, and no two store the same element."""
    ranges: dict[str, Interval] = {}
    stores: list[list[ir.Store]] = []
    for loops, body in nests:
        for loop in loops:
            if loop.var in ranges:
                return False
            ranges[loop.var] = Interval(loop.start, sub(add(loop.start, loop.extent), 1))
        stores.append([n for n in statements(body) if isinstance(n, ir.Store)])
    stored = {x.buffer for part in stores for x in part}
    if any(isinstance(n, ir.Load) and n.buffer in stored for _, b in nests for n in nodes(b)):
        return False
    facts = Facts(ranges)
    return all(_apart(x, y, facts) for p, q in combinations(stores, 2) for x in p for y in q)


def _apart(x: ir.Store, y: ir.Store, facts: Facts) -> bool:
    """Whether two stores never touch the same element."""
    if x.buffer != y.buffer:
        return True
    low, high = constant_bounds(sub(y.index, x.index), facts)
    return (low is not None and low > 0) or (high is not None and high < 0)
