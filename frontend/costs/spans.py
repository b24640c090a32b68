"""Which values an index takes, as numbers at typical sizes: what costs are estimated from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from hbc.frontend.program.funcs import Func
from hbc.ir.algebra.domain import Of, fold
from hbc.ir.algebra.intervals import UNKNOWN, Range, of_indices
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX

Span = tuple[int, int]  # first and last
Known = Mapping[str, Span]
Box = tuple[Span, ...]

MOST_DEEP = 12  # Funcs that an index is looked through


def index_span(e: ir.Expr, known: Known, funcs: Mapping[str, Func], deep: int = 0) -> Span | None:
    """First and last value of an index; None where nothing is known. Equal terms cancel first."""
    low, high = _span(e, known, funcs, deep)
    return None if low is None or high is None else (low, high)


def _span(e: ir.Expr, known: Mapping[str, Range], funcs: Mapping[str, Func], deep: int) -> Range:
    def other(e: ir.Expr, of: Of[Range]) -> Range:
        if not isinstance(e, ir.Access) or e.name not in funcs or deep == MOST_DEEP:
            return UNKNOWN
        func = funcs[e.name]
        if func.updates or func.table_shape or not e.type.element.is_int:
            return UNKNOWN
        inside = dict(zip(func.variables, map(of, e.indices), strict=True))
        return _span(func.value(e.part), {**known, **inside}, funcs, deep + 1)

    return fold(to_expr(linear(e)) if e.type == INDEX else e, of_indices(other), known)


def joined(a: Span | None, b: Span | None) -> Span | None:
    """The least span around both; None where one is unknown."""
    if a is None or b is None:
        return None
    return min(a[0], b[0]), max(a[1], b[1])


def around(boxes: Iterable[Box]) -> Box | None:
    """The least box around all of them; None without any."""
    least: Box | None = None
    for box in boxes:
        if least is None:
            least = box
        else:
            least = tuple(
                (min(x[0], y[0]), max(x[1], y[1])) for x, y in zip(least, box, strict=True)
            )
    return least


def length(span: Span) -> int:
    return max(span[1] - span[0] + 1, 0)


def volume(box: Box) -> int:
    """How many points."""
    return prod(length(s) for s in box)
