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

from hbc.ir.lang.nodes import (
    Allocate,
    Binary,
    Expr,
    For,
    Let,
    LetStmt,
    Load,
    LoopKind,
    Node,
    Op,
    Stmt,
    Store,
    Var,
)
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import free_variables, map_stmt, nodes, rewrite

_THREADS = (LoopKind.THREAD, LoopKind.LANE)
_OUTER, _INNER = "_o", "_t"  # how the halves of a dimension are called that threads share


def with_digits(s: Stmt) -> Stmt:
    """The statement where each thread computes such a number once."""
    return _named(s, _names(s))


def _named(s: Stmt, taken: Collection[str]) -> Stmt:
    def inside(c: Stmt) -> Stmt:
        return _named(c, taken)

    s = map_stmt(s, lambda e: e, inside)
    if not isinstance(s, For) or s.kind not in _THREADS:
        return s
    if isinstance(s.body, For) and s.body.kind in _THREADS:
        return s
    body = s.body
    for number, name in _numbers(body, taken):
        body = LetStmt(name, number, _replaced(body, number, Var(name)))
    return replace(s, body=body)


def _numbers(body: Stmt, taken: Collection[str]) -> list[tuple[Expr, str]]:
    """What is divided more than once in the body of a loop over threads, with the name for it."""
    bound = {n.var for n in nodes(body) if isinstance(n, For)}
    bound |= {n.name for n in nodes(body) if isinstance(n, Let | LetStmt)}
    found = Counter(
        n.a
        for n in nodes(body)
        if isinstance(n, Binary) and n.op in (Op.DIV, Op.MOD) and _is_sum(n.a)
    )
    numbers: dict[str, Expr] = {}
    for number, times in found.items():
        variables = free_variables(number)
        name = _prefix(variables)
        if times > 1 and name and name not in taken and not variables & bound:
            numbers.setdefault(name, number)
    return [(number, name) for name, number in numbers.items()]


def _is_sum(e: Expr) -> bool:
    return e.type == INDEX and isinstance(e, Binary) and e.op is Op.ADD


def _prefix(names: Collection[str]) -> str:
    """What two of the names begin with, which are those of a dimension that threads share."""
    outer = (n.removesuffix(_OUTER) for n in names if n.endswith(_OUTER))
    return next((n for n in outer if f"{n}{_INNER}" in names), "")


def _replaced(s: Stmt, number: Expr, by: Expr) -> Stmt:
    def expr(e: Expr) -> Expr:
        return by if e == number else e

    return map_stmt(s, lambda e: rewrite(e, expr), lambda c: _replaced(c, number, by))


def _names(s: Node) -> set[str]:
    taken: set[str] = set()
    for n in nodes(s):
        match n:
            case For(var=name) | Let(name=name) | LetStmt(name=name) | Var(name=name):
                taken.add(name)
            case Allocate(buffer=name) | Load(buffer=name) | Store(buffer=name):
                taken.add(name)
            case _:
                pass
    return taken
