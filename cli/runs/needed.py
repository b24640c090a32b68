"""Which points of each Func a run at given sizes computes: boxes of plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hbc.cli.files.sizes import extents, size_value
from hbc.frontend.program.funcs import Func, Pipeline, Update
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children


@dataclass(frozen=True, slots=True)
class Range:
    """low .. high, both included; infinite where nothing is known."""

    low: float
    high: float

    @property
    def count(self) -> int:
        """How many integers; 0 when empty, 1 when unbounded."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return 1
        return max(0, int(self.high - self.low) + 1)


Box = tuple[Range, ...]
UNKNOWN = Range(-math.inf, math.inf)


def needed_boxes(p: Pipeline, sizes: Mapping[str, int]) -> dict[str, Box]:
    """The box of each Func that is needed for the outputs; Funcs that are not needed are absent."""
    boxes: dict[str, Box] = {
        image.name: tuple(Range(0, extent - 1) for extent in extents(image, sizes))
        for image in p.outputs
    }
    funcs = {func.name for func in p.funcs}
    promised = _promises(p, sizes)
    for func in reversed(p.funcs):
        if func.name not in boxes or not all(r.count for r in boxes[func.name]):
            continue
        for values, ranges in stages(func, boxes[func.name], sizes):
            scope = {name: Range(size, size) for name, size in sizes.items()} | ranges
            for value in values:
                for access, inner in _accesses(value, scope, promised):
                    if access.name in funcs and access.name != func.name:
                        box = tuple(range_of(i, inner, promised) for i in access.indices)
                        boxes[access.name] = _hull(boxes.get(access.name), box)
    return boxes


def stages(
    func: Func, box: Box, sizes: Mapping[str, int]
) -> Iterator[tuple[tuple[ir.Expr, ...], dict[str, Range]]]:
    """The pure step and each update: their expressions, and the ranges of their variables."""
    pure = dict(zip(func.variables, box, strict=True))
    yield (func.pure,), pure
    for update in func.updates:
        ranges = {name: pure[name] for name in _pure_variables(func, update)}
        for r in update.reduce:
            start = size_value(r.start, sizes)
            ranges[r.name] = Range(start, start + size_value(r.extent, sizes) - 1)
        condition = () if update.condition is None else (update.condition,)
        yield (*update.indices, update.value, *condition), ranges


def range_of(e: ir.Expr, scope: Mapping[str, Range], promised: Mapping[str, Range]) -> Range:
    """Where the values of an index expression lie."""
    match e:
        case ir.Const(value=value):
            return Range(float(value), float(value))
        case ir.Var(name=name):
            return scope.get(name, UNKNOWN)
        case ir.Cast(value=value):
            return range_of(value, scope, promised)
        case ir.Unary(op=ir.UnaryOp.NEG, a=a):
            r = range_of(a, scope, promised)
            return Range(-r.high, -r.low)
        case ir.Select(a=a, b=b):
            x, y = range_of(a, scope, promised), range_of(b, scope, promised)
            return Range(min(x.low, y.low), max(x.high, y.high))
        case ir.Let(name=name, value=value, body=body):
            inner = {**scope, name: range_of(value, scope, promised)}
            return range_of(body, inner, promised)
        case ir.Access(name=name):
            return promised.get(name, UNKNOWN)
        case ir.Binary(op=op, a=a, b=b):
            return _binary(op, range_of(a, scope, promised), range_of(b, scope, promised))
        case _:
            return UNKNOWN


def _pure_variables(func: Func, update: Update) -> list[str]:
    return [
        name
        for name, index in zip(func.variables, update.indices, strict=True)
        if isinstance(index, ir.Var) and index.name == name
    ]


def _promises(p: Pipeline, sizes: Mapping[str, int]) -> dict[str, Range]:
    return {
        bound.name: Range(size_value(bound.lo, sizes), size_value(bound.hi, sizes) - 1)
        for bound in p.bounds
    }


def _accesses(
    e: ir.Expr, scope: Mapping[str, Range], promised: Mapping[str, Range]
) -> Iterator[tuple[ir.Access, Mapping[str, Range]]]:
    """Every access in `e`, indices included, with the ranges that hold there."""
    if isinstance(e, ir.Access):
        yield e, scope
    if isinstance(e, ir.Let):
        yield from _accesses(e.value, scope, promised)
        inner = {**scope, e.name: range_of(e.value, scope, promised)}
        yield from _accesses(e.body, inner, promised)
        return
    for child in children(e):
        if isinstance(child, ir.Expr):
            yield from _accesses(child, scope, promised)


def _hull(a: Box | None, b: Box) -> Box:
    if a is None:
        return b
    return tuple(Range(min(x.low, y.low), max(x.high, y.high)) for x, y in zip(a, b, strict=True))


def _binary(op: ir.Op, a: Range, b: Range) -> Range:
    match op:
        case ir.Op.ADD:
            return Range(a.low + b.low, a.high + b.high)
        case ir.Op.SUB:
            return Range(a.low - b.high, a.high - b.low)
        case ir.Op.MIN:
            return Range(min(a.low, b.low), min(a.high, b.high))
        case ir.Op.MAX:
            return Range(max(a.low, b.low), max(a.high, b.high))
        case ir.Op.MUL if all(map(math.isfinite, (a.low, a.high, b.low, b.high))):
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Range(min(corners), max(corners))
        case ir.Op.DIV if b.low == b.high and b.low > 0:
            return Range(_floor(a.low / b.low), _floor(a.high / b.low))
        case ir.Op.MOD if b.low == b.high and b.low > 0:
            return Range(0, b.low - 1)
        case _:
            return UNKNOWN


def _floor(x: float) -> float:
    return math.floor(x) if math.isfinite(x) else x
