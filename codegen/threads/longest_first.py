"""Which loops over blocks run from their end, so that the blocks that do the most begin first.

    for t in 0 .. min((L + 63) / 64, 2 * io + 2)   in a block of `io`: later blocks take longer

A GPU begins blocks in the order of their numbers. Where the longest come last, they are what its
multiprocessors still do when the others have nothing left: of causal attention half of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import inner_statements, names_read


def longest_first(body: ir.Stmt, variables: Iterable[str]) -> frozenset[str]:
    """Those of the variables of which some loop in the body has the more iterations the larger they are, and
    none has fewer."""
    extents = list(_extents(body, {}))
    found = set()
    for variable in variables:
        directions = {_direction(e, variable, named) for e, named in extents}
        if directions <= {0, 1} and 1 in directions:
            found.add(variable)
    return frozenset(found)


def _extents(
    s: ir.Stmt, named: Mapping[str, ir.Expr]
) -> Iterator[tuple[ir.Expr, Mapping[str, ir.Expr]]]:
    """Of every serial loop how often it runs, and what is named around it."""
    if isinstance(s, ir.LetStmt):
        named = {**named, s.name: s.value}
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.SERIAL:
        yield s.extent, named
    for part in inner_statements(s):
        yield from _extents(part, named)


def _direction(e: ir.Expr, variable: str, named: Mapping[str, ir.Expr]) -> int | None:
    """1 where it grows with the variable or stays, -1 where it shrinks or stays, 0 where it is without it;
    None where nothing is known."""
    match e:
        case ir.Var(name=name) if name == variable:
            return 1
        case ir.Var(name=name) if name in named:
            return _direction(named[name], variable, named)
        case ir.Binary(op=ir.Op.ADD | ir.Op.MIN | ir.Op.MAX, a=a, b=b):
            return _joined(_direction(a, variable, named), _direction(b, variable, named))
        case ir.Binary(op=ir.Op.SUB, a=a, b=b):
            other = _direction(b, variable, named)
            return _joined(_direction(a, variable, named), None if other is None else -other)
        case (
            ir.Binary(op=ir.Op.MUL, a=ir.Const(value=factor), b=whole)
            | ir.Binary(op=ir.Op.MUL | ir.Op.DIV, a=whole, b=ir.Const(value=factor))
        ):
            within = _direction(whole, variable, named)
            return None if within is None else within if factor > 0 else -within
    read = names_read(e)
    return None if variable in read or not read.isdisjoint(named) else 0


def _joined(a: int | None, b: int | None) -> int | None:
    """Of a sum, or of the less or the larger of two."""
    if a is None or b is None or a * b < 0:
        return None
    return a or b
