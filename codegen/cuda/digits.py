"""The number of an element that a thread copies, by name where several of its digits are needed.

s[x] = I[(64 * yx_o + yx_t / 2) / 66 * S + (64 * yx_o + yx_t / 2) % 66];
->  const index_t yx = 64 * yx_o + yx_t / 2;
    s[x] = I[yx / 66 * S + yx % 66];

For printing alone: what reasons about indices wants them in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import free_variables, map_stmt, nodes, nodes_of, rewrite, statements

_THREADS = (ir.LoopKind.THREAD, ir.LoopKind.LANE)
_OUTER, _INNER = "_o", "_t"  # how the halves of a dimension are called that threads share


def with_digits(s: ir.Stmt) -> ir.Stmt:
    """The statement where each thread computes such a number once."""
    return _named(s, _names(s))


def _named(s: ir.Stmt, taken: Collection[str]) -> ir.Stmt:
    def inside(c: ir.Stmt) -> ir.Stmt:
        return _named(c, taken)

    s = map_stmt(s, lambda e: e, inside)
    if not isinstance(s, ir.For) or s.kind not in _THREADS:
        return s
    if isinstance(s.body, ir.For) and s.body.kind in _THREADS:
        return s
    body = s.body
    for number, name in _numbers(body, taken):
        body = ir.LetStmt(name, number, _replaced(body, number, ir.Var(name)))
    return replace(s, body=body)


def _numbers(body: ir.Stmt, taken: Collection[str]) -> list[tuple[ir.Expr, str]]:
    """What is divided more than once in the body of a loop over threads, with the name for it."""
    bound = {n.var for n in statements(body) if isinstance(n, ir.For)}
    bound |= {n.name for n in nodes_of(body, ir.Let, ir.LetStmt)}
    divided = Counter(
        n.a for n in nodes_of(body, ir.Binary) if n.op in (ir.Op.DIV, ir.Op.MOD) and _is_sum(n.a)
    )
    numbers: dict[str, ir.Expr] = {}
    for number, times in divided.items():
        variables = free_variables(number)
        name = _prefix(variables)
        if times > 1 and name and name not in taken and not variables & bound:
            numbers.setdefault(name, number)
    return [(number, name) for name, number in numbers.items()]


def _is_sum(e: ir.Expr) -> bool:
    return e.type == INDEX and isinstance(e, ir.Binary) and e.op is ir.Op.ADD


def _prefix(names: Collection[str]) -> str:
    """What two of the names begin with, which are those of a dimension that threads share."""
    outer = (n.removesuffix(_OUTER) for n in names if n.endswith(_OUTER))
    return next((n for n in outer if f"{n}{_INNER}" in names), "")


def _replaced(s: ir.Stmt, number: ir.Expr, by: ir.Expr) -> ir.Stmt:
    def expr(e: ir.Expr) -> ir.Expr:
        return by if e == number else e

    return map_stmt(s, lambda e: rewrite(e, expr), lambda c: _replaced(c, number, by))


def _names(s: ir.Node) -> set[str]:
    taken: set[str] = set()
    for n in nodes(s):
        match n:
            case ir.For(var=name) | ir.Let(name=name) | ir.LetStmt(name=name) | ir.Var(name=name):
                taken.add(name)
            case ir.Allocate(buffer=name) | ir.Load(buffer=name) | ir.Store(buffer=name):
                taken.add(name)
            case _:
                pass
    return taken
