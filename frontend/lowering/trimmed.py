"""Loops without the iterations in which nothing happens: where all that a loop does is under a condition.

for k in N { if (ptr[i] <= k & k < ptr[i + 1]) .. }   ->   for k from ptr[i] count ptr[i + 1] - ptr[i] { .. }

A condition that says something of a loop inside as well, as of the vectors that a split makes, cuts the loop
as far as none of these can have it, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce

from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import Linear, coefficient, of_atom, scaled, shifted, to_expr, without
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, floordiv, maximum, minimum, sub
from hbc.ir.lang.walk import contains, free_variables, map_stmt, names_read, nodes, statements
from hbc.ir.vectors.vector_masks import conjuncts

IN_ORDER = (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL)


@record
class Cut:
    """The loop's variable is at least, or less than, `end`. `form` is not negative by the condition; `whole`:
    nothing else is asked by that, which then always holds."""

    end: ir.Expr
    is_start: bool
    form: Linear
    condition: ir.Expr
    whole: bool


Roots = Mapping[str, frozenset[str]]
"""By the name of a loop, the variables of the Func or of its reductions that it is made from."""


def trimmed(s: ir.Stmt, roots: Roots, lanes: frozenset[str] = frozenset()) -> ir.Stmt:
    """The statement with all such loops cut to where their conditions may hold. Conditions are those that
    read data, or compare loops over different variables: others are of the ends of pieces. `lanes`: names
    that differ between the lanes of a vector around the statement."""
    match s:
        case ir.For(kind=ir.LoopKind.VECTOR, var=var):
            lanes |= {var}
        case ir.LetStmt(name=name, value=value) if not free_variables(value).isdisjoint(lanes):
            lanes |= {name}
        case _:
            pass
    s = map_stmt(s, lambda e: e, lambda c: trimmed(c, roots, lanes))
    if not isinstance(s, ir.For) or s.kind not in IN_ORDER:
        return s
    inner = [x for x in statements(s.body) if isinstance(x, ir.For)]
    return s if any(x.kind in ir.GPU_LOOPS for x in inner) else _cut(s, roots, lanes)


def _cut(s: ir.For, roots: Roots, lanes: frozenset[str]) -> ir.Stmt:
    stored = {n.buffer for n in nodes(s.body) if isinstance(n, ir.Store)}
    cuts = [
        c
        for c in _cuts(s.body, s.var, {}, lanes)
        if (contains(c.condition, ir.Load) or _relates(c, s.var, roots))
        and stored.isdisjoint(n.buffer for n in nodes(c.end) if isinstance(n, ir.Load))
    ]
    if not cuts:
        return s
    taken = names_read(s)
    first, count = _fresh(f"{s.var}_from", taken), _fresh(f"{s.var}_count", taken)
    low = reduce(maximum, (c.end for c in cuts if c.is_start), s.start)
    stop = add(s.start, s.extent)
    high = reduce(minimum, (c.end for c in cuts if not c.is_start), stop)
    body = _without(s.body, {c.condition for c in cuts if c.whole})
    loop = replace(s, start=ir.Var(first), extent=ir.Var(count), body=body)
    inner = ir.LetStmt(count, simplify(sub(high, ir.Var(first))), loop)
    return ir.LetStmt(first, simplify(low), inner)


def _relates(c: Cut, var: str, roots: Roots) -> bool:
    """Whether it compares the loop with one over other variables. (A sum of several that is less than an
    extent is the end of pieces.)"""
    sign = coefficient(c.form, var)
    own = roots.get(var, frozenset())
    return any(
        isinstance(atom, ir.Var) and factor * sign < 0 and own.isdisjoint(roots.get(atom.name, own))
        for atom, factor in c.form.terms
    )


def _cuts(
    s: ir.Stmt, var: str, inside: Mapping[str, tuple[int, int]], hidden: frozenset[str]
) -> Iterator[Cut]:
    """What the conditions around everything in the statement say of the variable. `inside`: the least and
    greatest value of variables of loops on the way; of those that are `hidden` nothing is known."""
    match s:
        case ir.If(condition=condition, then=then, otherwise=None):
            for c in conjuncts(condition):
                forms = list(implied(c))
                for form in forms:
                    found = _cut_by(form, c, var, inside, hidden)
                    if found is not None:
                        yield found if len(forms) == 1 else replace(found, whole=False)
            yield from _cuts(then, var, inside, hidden)
        case ir.For(var=own, start=ir.Const(value=low), extent=ir.Const(value=n), body=body):
            more = {**inside, own: (int(low), int(low) + int(n) - 1)}
            yield from _cuts(body, var, more, hidden)
        case ir.For(var=own, body=body) | ir.LetStmt(name=own, body=body):
            yield from _cuts(body, var, inside, hidden | {own})
        case _:
            return


def _cut_by(
    form: Linear, condition: ir.Expr, var: str, inside: Mapping[str, tuple[int, int]],
    hidden: frozenset[str],
) -> Cut | None:  # fmt: skip
    """From `form >= 0`, which is c * var + rest: the variable is at least -rest / c, or at most rest / -c."""
    c = coefficient(form, var)
    if c == 0:
        return None
    rest, exact = without(form, of_atom(ir.Var(var)).keys[0]), abs(c) == 1
    for key, (atom, factor) in zip(rest.keys, rest.terms, strict=True):
        if isinstance(atom, ir.Var) and atom.name in inside:
            low, high = inside[atom.name]
            exact = False
            rest = shifted(without(rest, key), factor * (high if factor > 0 else low))
    if not free_variables(to_expr(rest)).isdisjoint({var, *inside, *hidden}):
        return None
    if c > 0:
        return Cut(_divided(shifted(scaled(rest, -1), c - 1), c), True, form, condition, exact)
    return Cut(add(_divided(rest, -c), 1), False, form, condition, exact)


def _divided(form: Linear, by: int) -> ir.Expr:
    return to_expr(form) if by == 1 else floordiv(to_expr(form), by)


def _without(s: ir.Stmt, conditions: set[ir.Expr]) -> ir.Stmt:
    """The statement without these conjuncts."""
    if not isinstance(s, ir.If):
        return s
    kept = [c for c in conjuncts(s.condition) if c not in conditions]
    then = _without(s.then, conditions)
    return ir.If(and_(*kept), then, None, s.span) if kept else then


def _fresh(name: str, taken: set[str]) -> str:
    number = 1
    own = name
    while own in taken:
        number += 1
        own = f"{name}_{number}"
    return own
