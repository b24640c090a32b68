"""Which points of each Func a run at given sizes computes: boxes of plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hbc.cli.files.sizes import extents, size_value
from hbc.frontend.program.funcs import Func, Pipeline, Update
from hbc.ir.algebra.domain import Domain, Of, fold
from hbc.ir.algebra.intervals import UNKNOWN, Range, hull, of_indices
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children

Box = tuple[Range, ...]


def needed_boxes(p: Pipeline, sizes: Mapping[str, int]) -> dict[str, Box]:
    """The box of each Func that is needed for the outputs; Funcs that are not needed are absent."""
    boxes: dict[str, Box] = {
        name: tuple((0, extent - 1) for extent in extents(image, sizes))
        for name, image in p.output_funcs.items()
    }
    funcs = {func.name for func in p.funcs}
    domain = of_indices(_stored(_promises(p, sizes)))
    for func in reversed(p.funcs):
        if func.name not in boxes or not all(count(r) for r in boxes[func.name]):
            continue
        for values, ranges in stages(func, boxes[func.name], sizes):
            scope = {name: (size, size) for name, size in sizes.items()} | ranges
            for value in values:
                for access, inner in _accesses(value, scope, domain):
                    if access.name in funcs and access.name != func.name:
                        box = tuple(fold(i, domain, inner) for i in access.indices)
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
            ranges[r.name] = start, start + size_value(r.extent, sizes) - 1
        condition = () if update.condition is None else (update.condition,)
        yield (*update.indices, update.value, *condition), ranges


def count(r: Range) -> int:
    """How many integers; 0 when empty, 1 when unbounded."""
    low, high = r
    return 1 if low is None or high is None else max(0, high - low + 1)


def _pure_variables(func: Func, update: Update) -> list[str]:
    return [
        name
        for name, index in zip(func.variables, update.indices, strict=True)
        if isinstance(index, ir.Var) and index.name == name
    ]


def _promises(p: Pipeline, sizes: Mapping[str, int]) -> dict[str, Range]:
    return {
        bound.name: (size_value(bound.lo, sizes), size_value(bound.hi, sizes) - 1)
        for bound in p.bounds
    }


def _stored(promised: Mapping[str, Range]) -> Callable[[ir.Expr, Of[Range]], Range]:
    """What may stand in arrays and Funcs."""
    return lambda e, of: promised.get(e.array, UNKNOWN) if isinstance(e, ir.Access) else UNKNOWN


def _accesses(
    e: ir.Expr, scope: Mapping[str, Range], domain: Domain[Range]
) -> Iterator[tuple[ir.Access, Mapping[str, Range]]]:
    """Every access in `e`, indices included, with the ranges that hold there."""
    if isinstance(e, ir.Access):
        yield e, scope
    if isinstance(e, ir.Let):
        yield from _accesses(e.value, scope, domain)
        inner = {**scope, e.name: fold(e.value, domain, scope)}
        yield from _accesses(e.body, inner, domain)
        return
    for child in children(e):
        if isinstance(child, ir.Expr):
            yield from _accesses(child, scope, domain)


def _hull(a: Box | None, b: Box) -> Box:
    return b if a is None else tuple(hull(x, y) for x, y in zip(a, b, strict=True))
