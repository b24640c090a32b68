"""Index expressions of instruction meanings as strides over split loops.

A variable whose quotient or remainder by d is used anywhere is split there: `b[k / 2, j, k % 2]` makes
of k the loops `k/2` and `k%2`, over which every index is a sum of multiples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hbc.frontend.isa.extents import Extent
from hbc.frontend.isa.properties import Reports
from hbc.frontend.text import ast
from hbc.ir.ground.diag import did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

Steps = dict[str, int]
"""How far each loop moves an index."""


@record
class Part:
    """A loop that runs over one digit of a variable: the variable is the sum of `unit * part`."""

    name: str
    extent: Extent
    unit: int


def split_variable(
    name: str, extent: Extent, indices: Sequence[ast.Expr], reports: Reports
) -> tuple[Part, ...]:
    """The parts of a variable, outermost first, by the divisors that the indices apply to it."""
    cuts: list[int] = []
    divided = sorted({(d, e.span.start) for x in indices for d, e in divisors(x, name)})
    spans = {d: e.span for x in indices for d, e in divisors(x, name)}
    for d in dict.fromkeys(d for d, _ in divided):
        if extent.grain % d:
            reports.report(f"{d} does not divide the extent of `{name}`", spans[d])
        elif cuts and d % cuts[-1]:
            reports.report(
                f"`{name}` is divided by {cuts[-1]} and by {d}", spans[d],
                "each divisor of a variable is a multiple of the one before",
            )  # fmt: skip
        elif d > 1:
            cuts.append(d)
    units = [1, *cuts]
    parts = []
    for unit, above in zip(units, [*cuts, None], strict=True):
        inner = f"{name}%{above}" if above else name
        label = f"{inner}/{unit}" if unit > 1 else inner
        size = extent.divided(unit) if above is None else _fixed(above // unit)
        parts.append(Part(label, size, unit))
    return tuple(reversed(parts))


def divisors(e: ast.Expr, name: str) -> Iterator[tuple[int, ast.Expr]]:
    """The numbers by which an index divides the variable, and where."""
    match e:
        case ast.Binary(op="/" | "%", a=ast.Name(text=text), b=ast.Number(value=int() as d)):
            if text == name and d > 0:
                yield d, e
        case ast.Binary(a=a, b=b):
            yield from divisors(a, name)
            yield from divisors(b, name)


def index_steps(
    e: ast.Expr, parts: Mapping[str, tuple[Part, ...]], reports: Reports
) -> Steps | None:
    """How far each loop moves the index, or None after reporting what is not understood."""
    match e:
        case ast.Name(text=name):
            steps = _parts_of(e, name, parts, reports)
            return None if steps is None else {p.name: p.unit for p in steps}
        case ast.Binary(op="/", a=ast.Name(text=name) as v, b=ast.Number(value=int() as d)) if (
            d > 0
        ):
            steps = _parts_of(v, name, parts, reports)
            return None if steps is None else {p.name: p.unit // d for p in steps if p.unit >= d}
        case ast.Binary(op="%", a=ast.Name(text=name) as v, b=ast.Number(value=int() as d)) if (
            d > 0
        ):
            steps = _parts_of(v, name, parts, reports)
            return None if steps is None else {p.name: p.unit for p in steps if p.unit < d}
        case (
            ast.Binary(op="*", a=a, b=ast.Number(value=int() as n))
            | ast.Binary(op="*", a=ast.Number(value=int() as n), b=a)
        ) if n > 0:
            inner = index_steps(a, parts, reports)
            return None if inner is None else {p: n * s for p, s in inner.items()}
        case ast.Binary(op="+", a=a, b=b):
            left, right = index_steps(a, parts, reports), index_steps(b, parts, reports)
            if left is None or right is None:
                return None
            return {p: left.get(p, 0) + right.get(p, 0) for p in [*left, *right]}
        case ast.Number(value=0):
            return {}
        case _:
            reports.report(
                f"`{e.span.text}` cannot be an index here", e.span,
                "write a sum of variables, `v / 2`, `v % 2`, each perhaps times a number",
            )  # fmt: skip
            return None


def _parts_of(
    e: ast.Expr, name: str, parts: Mapping[str, tuple[Part, ...]], reports: Reports
) -> tuple[Part, ...] | None:
    if name in parts:
        return parts[name]
    hint = (
        did_you_mean(name, parts)
        or f"declare it: `reduce {name} in 4`, or index with it what is written"
    )
    reports.report(f"there is no variable `{name}`", e.span, hint)
    return None


def _fixed(n: int) -> Extent:
    return Extent(ir.const_index(n), n, n)
