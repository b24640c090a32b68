"""How much a parallel loop has to do, as C: threads are asked for where it is worth their start.

An estimate of operations, as a polynomial of what is known before the loop: sizes, outer loops. Not counted
is scalar index arithmetic, which mostly takes other units. What data decides is taken for much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.codegen.c.source import CSource
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import MUL, Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX, Type
from hbc.ir.lang.walk import nodes

MACRO = "HBC_PARALLEL_FROM"
# A team of two starts in 4.7 us where threads wait passively (gcc 12, Zen 4); so much work takes some 10 us.
OPERATIONS = 32768
DEFINITION = f"""\
#ifndef {MACRO}  /* so many operations in a loop are worth several threads */
#define {MACRO} {OPERATIONS}
#endif"""

MOST_TERMS = 4
_CALL, _DIVISION = 16, 8  # in additions
_TOGETHER = ir.Ramp | ir.Broadcast

Polynomial = Mapping[tuple[str, ...], float]
"""Coefficients by products of names, each in order: `{("K", "N"): 2.0, (): 1.0}` is 2 K N + 1."""
Names = Mapping[str, Polynomial | ir.Expr | None]
"""What is inside of the loop: loop variables as their mean, lets as their value, None for those of data."""


class Unknown(Exception):
    """Data decides, or no polynomial does."""


def enough_work(s: ir.For, unit: Unit) -> str:
    """` if(...)`, to follow `#pragma omp parallel for`; empty where the work of `s` is not known."""
    try:
        work = _of_statement(s, {}, unit)
    except Unknown:
        return ""
    terms = [t for t in work if work[t] and not any(_divides(t, u) for u in work if work[u])]
    if len(terms) > MOST_TERMS:
        return ""
    total = " + ".join(_text(work[t], t, unit) for t in sorted(terms)) or "0"
    return f" if({total.replace('+ -', '- ')} >= {MACRO})"


def always_on_threads(source: CSource) -> CSource:
    """The same, built so that each parallel loop starts its threads: tests are small, and mean them too."""
    if not source.parallel:
        return source
    return replace(source, flags=(*source.flags, f"-D{MACRO}=0"))


def _divides(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether a term is small beside another one: a proper part of its product."""
    return len(part) < len(whole) and all(part.count(n) <= whole.count(n) for n in part)


def _text(factor: float, term: tuple[str, ...], unit: Unit) -> str:
    """`1.15 * K * M`, of doubles from the first product on: 64 bits do not hold all of them."""
    if not term:
        return f"{factor:.0f}"
    number = f"{factor:.3g}"
    if not set(number) & set(".e"):
        number += ".0"
    return " * ".join([number, *(scalar(ir.Var(name), unit).at(MUL) for name in term)])


def _of_statement(s: ir.Stmt, names: Names, unit: Unit) -> Polynomial:
    match s:
        case ir.Block(body=body):
            return _sum(*(_of_statement(one, names, unit) for one in body))
        case ir.For(kind=kind):
            start, extent = _read(s.start, names), _read(s.extent, names)
            mean = _sum(start, _product({(): 0.5}, extent), {(): -0.5})
            inside = _of_statement(s.body, {**names, s.var: mean}, unit)
            step = 0.0 if kind is ir.LoopKind.UNROLL else 1.0
            return _product(extent, _sum(inside, {(): step}))
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            ways = [w for w in (then, otherwise) if w is not None]
            return _sum(_cost(condition, unit), *(_of_statement(w, names, unit) for w in ways))
        case ir.LetStmt(name=name, value=value, body=body):
            own = {**names, name: value if value.type == INDEX else None}
            return _sum(_cost(value, unit), _of_statement(body, own, unit))
        case ir.Allocate(body=body):
            return _of_statement(body, names, unit)
        case ir.Store(value=value, index=index, mask=mask):
            stored = _moved(index, value.type, unit)
            asked = [e for e in (value, mask) if e is not None]
            return _sum({(): stored}, *(_cost(e, unit) for e in asked))
        case _:
            return {(): 1.0}


def _cost(e: ir.Expr, unit: Unit) -> Polynomial:
    """Instructions of vectors, or of scalars; what computes addresses is free."""
    total = 0.0
    for n in nodes(e):
        match n:
            case ir.Load(index=index, type=t):
                total += _moved(index, t, unit)
            case ir.Call(type=t):
                total += _CALL * _vectors(t, unit)
            case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, type=t) if t != INDEX:
                total += _DIVISION * _vectors(t, unit)
            case ir.Binary() | ir.Unary() | ir.Select() | ir.Cast() | ir.Gather() | ir.Instruct():
                total += 0 if n.type == INDEX else _vectors(n.type, unit)
            case ir.VectorReduce(value=value):
                total += _vectors(value.type, unit)
    return {(): total}


def _moved(index: ir.Expr, t: Type, unit: Unit) -> float:
    """A load or store: by vectors where elements lie side by side, else one by one."""
    return float(t.lanes) if not isinstance(index, _TOGETHER) else _vectors(t, unit)


def _vectors(t: Type, unit: Unit) -> float:
    return max(1.0, t.lanes * t.element.bits / max(unit.target.vector_bits, t.element.bits))


def _read(e: ir.Expr, names: Names) -> Polynomial:
    """An index as a polynomial, nearly: quotients have fractions."""
    match e:
        case ir.Const(value=value):
            return {(): float(value)}
        case ir.Var(name=name) if name not in names and e.type == INDEX:
            return {(name,): 1.0}
        case ir.Var(name=name):
            known = names[name]
            if known is None:
                raise Unknown
            return known if isinstance(known, Mapping) else _read(known, names)
        case ir.Binary(op=ir.Op.ADD, a=a, b=b):
            return _sum(_read(a, names), _read(b, names))
        case ir.Binary(op=ir.Op.SUB, a=a, b=b):
            return _sum(_read(a, names), _product({(): -1.0}, _read(b, names)))
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            return _product(_read(a, names), _read(b, names))
        case ir.Binary(op=ir.Op.DIV, a=a, b=ir.Const(value=divisor)) if divisor > 0:
            return _product({(): 1 / divisor}, _read(a, names))
        case ir.Binary(op=ir.Op.MOD, b=ir.Const(value=divisor)):
            return {(): (divisor - 1) / 2}
        case ir.Binary(op=ir.Op.MIN, a=a, b=b):  # a whole piece, or what is left of the last one
            return min(_read(a, names), _read(b, names), key=_degree)
        case ir.Binary(op=ir.Op.MAX, a=a, b=b):
            return max(_read(a, names), _read(b, names), key=_degree)
        case _:
            raise Unknown


def _degree(p: Polynomial) -> int:
    return max((len(term) for term, factor in p.items() if factor), default=0)


def _sum(*parts: Polynomial) -> Polynomial:
    total: dict[tuple[str, ...], float] = {}
    for part in parts:
        for term, factor in part.items():
            total[term] = total.get(term, 0.0) + factor
    return total


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    return _sum(*({tuple(sorted(t + u)): f * g} for t, f in a.items() for u, g in b.items()))
