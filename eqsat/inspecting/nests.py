"""The statements of a kernel, each with all loops around it and what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.linear import canonical, linear, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, mul, sub
from hbc.ir.lang.types import I64
from hbc.ir.lang.walk import free_variables, mentions, nodes_of, substitute

NOMINAL = 256
"""The extent that is assumed where none is known."""


@record
class NestLoop:
    """A loop from 0 on: its variable, its extent at the sizes assumed, and the loop of the program that it
    is part of."""

    var: str
    extent: int
    loop: str


@record
class Nest:
    """A store inside of loops, the outermost first, where all of the conditions hold."""

    levels: tuple[NestLoop, ...]
    store: ir.Store
    conditions: tuple[ir.Expr, ...] = ()


def nests(body: ir.Stmt, sizes: Mapping[str, int]) -> Iterator[Nest]:
    """Those of all stores, in the order of the program; of the loop of several pieces the longest."""
    longest: dict[object, Nest] = {}
    for n in _walked(body, (), {}, (), {k: ir.const_index(v) for k, v in sizes.items()}):
        key = n.store.span, n.store.buffer, tuple(level.loop for level in n.levels)
        longer = longest.get(key)
        if longer is None or _points(n) > _points(longer):
            longest[key] = n
    yield from longest.values()


def _points(n: Nest) -> int:
    total = 1
    for level in n.levels:
        total *= level.extent
    return total


def _walked(
    s: ir.Stmt,
    levels: tuple[NestLoop, ...],
    values: dict[str, ir.Expr],
    conditions: tuple[ir.Expr, ...],
    sizes: dict[str, ir.Expr],
) -> Iterator[Nest]:
    """`values`: what names stand for, `sizes` the numbers assumed for sizes, and for loop variables the
    greatest."""
    match s:
        case ir.For(var=var, start=start, extent=extent, body=body):
            begin = substitute(start, values)
            count = _count(substitute(extent, values), levels, sizes)
            name = f"{var}'{len(levels)}"
            level = NestLoop(name, count, var)
            inner = {**values, var: canonical(add(begin, ir.Var(name)))}
            yield from _walked(body, (*levels, level), inner, conditions, sizes)
        case ir.Block(body=body):
            for part in body:
                yield from _walked(part, levels, values, conditions, sizes)
        case ir.Allocate(body=body):
            yield from _walked(body, levels, values, conditions, sizes)
        case ir.LetStmt(name=name, value=value, body=body):
            inner = {**values, name: substitute(value, values)}
            yield from _walked(body, levels, inner, conditions, sizes)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            under = (*conditions, substitute(condition, values))
            yield from _walked(then, levels, values, under, sizes)
            if otherwise is not None:
                yield from _walked(otherwise, levels, values, conditions, sizes)
        case ir.Store():
            mask = () if s.mask is None else (substitute(s.mask, values),)
            index, value = substitute(s.index, values), substitute(s.value, values)
            whole = tuple(level for level in levels if level.extent > 1)
            alone = {level.var: ir.const_index(0) for level in levels if level.extent <= 1}
            store = replace(
                s, index=substitute(index, alone), value=substitute(value, alone), mask=None
            )
            held = tuple(substitute(c, alone) for c in (*conditions, *mask))
            yield Nest(whole, store, held)
        case _:
            pass


def _count(extent: ir.Expr, levels: tuple[NestLoop, ...], sizes: dict[str, ir.Expr]) -> int:
    """The extent as a number, where it differs from one iteration to the next the greatest."""
    counts = []
    for last in (False, True):
        at = {v.var: ir.const_index(v.extent - 1 if last else 0) for v in levels}
        value = const_value(canonical(substitute(extent, {**sizes, **at})))
        counts.append(NOMINAL if value is None else int(value))
    return max(*counts, 0)


def cut(n: Nest, var: str, inner: int) -> Nest:
    """The nest with a loop in two, of which the inner one has this extent."""
    outside, inside = ir.Var(f"{var}o"), ir.Var(f"{var}i")
    levels: list[NestLoop] = []
    for level in n.levels:
        if level.var != var:
            levels.append(level)
            continue
        levels.append(NestLoop(outside.name, -(-level.extent // inner), level.loop))
        levels.append(NestLoop(inside.name, inner, level.loop))
    ranges = {
        outside.name: Interval(ir.const_index(0), None),
        inside.name: Interval(ir.const_index(0), ir.const_index(inner - 1)),
    }
    facts, at = Facts(ranges), {var: add(mul(outside, inner), inside)}

    def there(e: ir.Expr) -> ir.Expr:
        return simplify(substitute(e, at), facts)

    store = replace(n.store, index=there(n.store.index), value=there(n.store.value))
    return Nest(tuple(levels), store, tuple(map(there, n.conditions)))


def interleaved(n: Nest) -> Nest:
    """The nest with the loops cut whose variables are divided by a number."""
    for level in n.levels:
        by = _divisor(level.var, n.store)
        if 1 < by < level.extent:
            n = cut(n, level.var, by)
    return n


def _divisor(var: str, s: ir.Store) -> int:
    """The least number above 1 that places are divided by, which move with this variable alone."""
    divisors = [
        int(e.b.value)
        for part in (s.index, s.value)
        for e in nodes_of(part, ir.Binary)
        if e.op in (ir.Op.DIV, ir.Op.MOD) and isinstance(e.b, ir.Const)
        and e.type.element == I64 and var in free_variables(e.a) and e.b.value > 1
    ]  # fmt: skip
    return min(divisors, default=0)


def step(index: ir.Expr, var: str) -> ir.Expr:
    """How far a place moves when the variable does by one."""
    if not mentions(index, var):
        return ir.const_index(0)
    return expanded(sub(substitute(index, {var: add(ir.Var(var), 1)}), index))


def expanded(place: ir.Expr) -> ir.Expr:
    """A place in normal form, products of sums multiplied out."""
    return to_expr(linear(place))
