"""Which values an index takes, as numbers at typical sizes: what costs are estimated from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from hbc.frontend.program.funcs import Func
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX

Span = tuple[int, int]  # first and last
Known = Mapping[str, Span]
Box = tuple[Span, ...]

MOST_DEEP = 12  # Funcs that an index is looked through


def index_span(e: ir.Expr, known: Known, funcs: Mapping[str, Func], deep: int = 0) -> Span | None:
    """First and last value of an index; None where nothing is known. Equal terms cancel first."""
    return _span(to_expr(linear(e)) if e.type == INDEX else e, known, funcs, deep)


def _span(e: ir.Expr, known: Known, funcs: Mapping[str, Func], deep: int) -> Span | None:
    match e:
        case ir.Const(value=value):
            return (int(value), int(value)) if isinstance(value, int) else None
        case ir.Var(name=name):
            return known.get(name)
        case ir.Cast(value=value):
            return _span(value, known, funcs, deep) if e.type.element.is_int else None
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            found = _span(a, known, funcs, deep)
            return None if found is None else (-found[1], -found[0])
        case ir.Binary(op=op, a=a, b=b):
            return _of_two(op, _span(a, known, funcs, deep), _span(b, known, funcs, deep))
        case ir.Select(a=a, b=b):
            return joined(_span(a, known, funcs, deep), _span(b, known, funcs, deep))
        case ir.Let(name=name, value=value, body=body):
            inner = _span(value, known, funcs, deep)
            return None if inner is None else _span(body, {**known, name: inner}, funcs, deep)
        case ir.Access(name=name, indices=indices) if deep < MOST_DEEP:
            func = funcs.get(name)
            if func is None or func.updates or func.table_shape or not func.element.is_int:
                return None
            spans = [_span(i, known, funcs, deep) for i in indices]
            inside = {v: s for v, s in zip(func.variables, spans, strict=True) if s is not None}
            sizes = {n: s for n, s in known.items() if n not in func.variables}
            return index_span(func.pure, {**sizes, **inside}, funcs, deep + 1)
    return None


def _of_two(op: ir.Op, a: Span | None, b: Span | None) -> Span | None:
    if op is ir.Op.MOD and b is not None and b[0] == b[1] > 0:
        q = b[0]
        if a is None or a[0] // q != a[1] // q:
            return 0, q - 1
        return a[0] % q, a[1] % q
    if a is None or b is None:
        # One side of a minimum or maximum bounds nothing below or above.
        return None
    match op:
        case ir.Op.ADD:
            return a[0] + b[0], a[1] + b[1]
        case ir.Op.SUB:
            return a[0] - b[1], a[1] - b[0]
        case ir.Op.MUL:
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case ir.Op.DIV if b[0] > 0:
            corners = [x // y for x in a for y in b]
            return min(corners), max(corners)
        case ir.Op.MIN:
            return min(a[0], b[0]), min(a[1], b[1])
        case ir.Op.MAX:
            return max(a[0], b[0]), max(a[1], b[1])
    return None


def joined(a: Span | None, b: Span | None) -> Span | None:
    """The least span around both; None where one is unknown."""
    if a is None or b is None:
        return None
    return min(a[0], b[0]), max(a[1], b[1])


def around(boxes: Iterable[Box]) -> Box | None:
    """The least box around all of them; None without any."""
    found: Box | None = None
    for box in boxes:
        if found is None:
            found = box
        else:
            found = tuple(
                (min(x[0], y[0]), max(x[1], y[1])) for x, y in zip(found, box, strict=True)
            )
    return found


def length(span: Span) -> int:
    return max(span[1] - span[0] + 1, 0)


def volume(box: Box) -> int:
    """How many points."""
    return prod(length(s) for s in box)
