"""Which box of every Func the outputs need, exact for given sizes: indices are really evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hbc.frontend.oracle.points import Box, Linear, Ranges, chunks, grid, linear
from hbc.frontend.oracle.program import Program, accesses, span_range, update_ranges
from hbc.frontend.oracle.reach import MOST_REACHED
from hbc.frontend.oracle.value import Value, taken
from hbc.frontend.program.funcs import Func, Update
from hbc.ir.algebra.intervals import Range, of_binary
from hbc.ir.algebra.value_range import value_range
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_
from hbc.ir.lang.walk import free_variables, rewrite, substitute
from hbc.ir.vectors.vector_masks import conjuncts

Compute = Callable[[Program, Mapping[str, Box]], None]
"""Evaluates boxes of Funcs into a program."""

_MAX_GRID = 1 << 24
_CHUNK = 1 << 18


def regions(
    program: Program, targets: Mapping[str, Box], compute: Compute
) -> dict[str, tuple[Box, ...]]:
    """For each Func that the targets need: the boxes that hold after its pure stage, its first
    update, and so on. Data-dependent indices call `compute` for the Funcs they go through."""
    need = dict(targets)
    boxes: dict[str, tuple[Box, ...]] = {}
    for func in reversed(program.pipeline.funcs):
        if func.name in need and func.name not in program.stored:
            boxes[func.name] = _stages(program, func, need, compute)
    return boxes


def _stages(
    program: Program, func: Func, need: dict[str, Box], compute: Compute
) -> tuple[Box, ...]:
    boxes = [need[func.name]]
    for update in reversed(func.updates):
        reduce, pure = update_ranges(program, update, func.variables, boxes[0])
        ranges = {**reduce, **pure}
        need[func.name] = boxes[0]
        known = _known_before(func, update)
        if update.condition is not None:
            _demand(program, update.condition, ranges, None, need, compute)
        for e in (*update.indices, update.value):
            _demand(program, e, ranges, known, need, compute)
        stores = ir.Access(func.name, update.indices, update.value.type)
        _demand_access(program, stores, ranges, known, need, compute)
        boxes.insert(0, need[func.name])
    ranges = {v: span_range(s) for v, s in zip(func.variables, boxes[0], strict=True)}
    _demand(program, func.pure, ranges, None, need, compute)
    return tuple(boxes)


def _known_before(func: Func, update: Update) -> ir.Expr | None:
    """What of an update's condition does not depend on the steps before: what reads the Func itself says
    nothing of where it reads and writes."""
    parts = () if update.condition is None else conjuncts(update.condition)
    known = [c for c in parts if all(a.name != func.name for a in accesses(c))]
    return and_(*known) if known else None


def _demand(
    program: Program, e: ir.Expr, ranges: Ranges, condition: ir.Expr | None, need: dict[str, Box],
    compute: Compute,
) -> None:  # fmt: skip
    for one in accesses(e):
        if one.name not in program.stored:
            _demand_access(program, one, ranges, condition, need, compute)


def _demand_access(
    program: Program, one: ir.Access, ranges: Ranges, condition: ir.Expr | None, need: dict[str, Box],
    compute: Compute,
) -> None:  # fmt: skip
    if any(count <= 0 for _, count in ranges.values()):
        return
    box = []
    for index in one.indices:
        span = hull(program, index, ranges, condition, compute)
        if span is None:
            return
        box.append(span)
    known = need.get(one.name)
    need[one.name] = tuple(box) if known is None else _union(known, tuple(box))


def _union(a: Box, b: Box) -> Box:
    return tuple((min(x[0], y[0]), max(x[1], y[1])) for x, y in zip(a, b, strict=True))


def hull(
    program: Program, index: ir.Expr, ranges: Ranges, condition: ir.Expr | None, compute: Compute
) -> tuple[int, int] | None:
    """Least and greatest value of an index over the ranges, where the condition holds; None when it
    holds nowhere."""
    form = linear(index)
    if form is not None and condition is None:
        return _linear_hull(form, ranges, program.sizes)
    names = free_variables(index) | (free_variables(condition) if condition else frozenset())
    used = {name: r for name, r in ranges.items() if name in names}
    if form is not None and np.prod([count for _, count in used.values()], dtype=float) > _MAX_GRID:
        return _linear_hull(form, ranges, program.sizes)
    inner = _with_inner(
        program, [index] if condition is None else [index, condition], used, compute
    )
    ends = _promised(program, index, ranges)
    spans = []
    for piece in chunks(used, _CHUNK):
        points = grid(piece, program.sizes)
        if condition is not None:
            points = points.where(inner.meaning(condition)(points))
            assert points.mask is not None
            values = taken(inner.meaning(index)(points), points.mask)
        else:
            values = inner.meaning(index)(points)
        if values.x.size:
            spans.append(_ends(values, ends))
    return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None


def _ends(v: Value, promised: Range) -> tuple[int, int]:
    """Least and greatest value, those that an uncertain index may reach included, but for those that it
    cannot have. One that may be anywhere tells nothing: whatever is read there may be anything, too."""
    low, high = int(v.x.min()), int(v.x.max())
    if v.e is None:
        return low, high
    near = np.where(v.e <= MOST_REACHED, v.e, 0.0)
    least, most = int((v.x - near).min()), int((v.x + near).max())
    if promised[0] is not None:
        least = max(least, promised[0])
    if promised[1] is not None:
        most = min(most, promised[1])
    return min(low, least), max(high, most)


def _promised(program: Program, index: ir.Expr, ranges: Ranges) -> Range:
    """What the index can be over the ranges, whatever the data are: that of a `clamp` is inside."""

    def of(e: ir.Expr) -> Range:
        return value_range(e, {}, index_range)

    def index_range(e: ir.Expr) -> Range:
        match e:
            case ir.Binary(op=op, a=a, b=b):
                return of_binary(op, of(a), of(b))
            case ir.Var(name=name) if name in ranges:
                first, count = ranges[name]
                return first, first + count - 1
            case ir.Var(name=name) if name in program.sizes:
                return program.sizes[name], program.sizes[name]
            case _:
                return None, None

    def without_let(e: ir.Expr) -> ir.Expr:
        return substitute(e.body, {e.name: e.value}) if isinstance(e, ir.Let) else e

    return of(rewrite(index, without_let))


def _with_inner(
    program: Program, expressions: list[ir.Expr], ranges: Ranges, compute: Compute
) -> Program:
    """A program that has the Funcs which the expressions themselves read."""
    need: dict[str, Box] = {}
    for e in expressions:
        _demand(program, e, ranges, None, need, compute)
    if not need:
        return program
    inner = program.fork()
    compute(inner, need)
    return inner


def _linear_hull(form: Linear, ranges: Ranges, sizes: Mapping[str, int]) -> tuple[int, int]:
    lo = hi = form.constant
    for name, k in form.terms:
        first, count = ranges[name] if name in ranges else (sizes[name], 1)
        ends = (k * first, k * (first + count - 1))
        lo, hi = lo + min(ends), hi + max(ends)
    return lo, hi
