"""Bounds inference: which part of each Func its consumers need at a level of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping

from hbc.frontend.conditions import greater, lesser, narrowed
from hbc.frontend.funcs import Func, Image, ReduceVar
from hbc.frontend.legal import stage_expressions
from hbc.frontend.plan import FuncPlan, step
from hbc.ir.bounds import Interval, bounds
from hbc.ir.build import add, sub
from hbc.ir.diag import InternalError, error
from hbc.ir.nodes import Access, Expr, Var
from hbc.ir.simplify import simplify
from hbc.ir.walk import nodes, substitute

Box = tuple[Interval, ...]
Ranges = Mapping[str, Interval]


def reduce_ranges(reduce: tuple[ReduceVar, ...]) -> dict[str, Interval]:
    """The whole domain of each reduction variable."""
    return {r.name: Interval(r.start, simplify(sub(add(r.start, r.extent), 1))) for r in reduce}


def whole_image(image: Image) -> Box:
    return tuple(Interval(simplify(sub(e, e)), simplify(sub(e, 1))) for e in image.extents)


def required(
    f: FuncPlan,
    readers: list[tuple[Func, int | None, Ranges]],
    scope: Ranges,
    box: Box | None = None,
) -> Box:
    """The hull of `box`, of what the reader stages access of `f`, and of what its own updates touch.

    A reader comes with the ranges of its variables; `scope` gives those of the names around it."""
    func = f.func
    for reader, update, given in readers:
        ranges = _where(reader, update, given, scope)
        for access in accesses_of(reader, update, func.name):
            box = hull(box, access_box(access, ranges, scope), scope)
    if box is None:
        raise InternalError(f"nothing reads `{func.name}` here")
    for update in range(len(func.updates)):
        box = _touched_by(func, update, box, scope)
    for variable, low, extent in f.bounds:
        at = func.variables.index(variable)
        promised = Interval(low, simplify(sub(add(low, extent), 1)))
        box = (*box[:at], promised, *box[at + 1 :])
    for variable, interval in zip(func.variables, box, strict=True):
        if interval.lo is None or interval.hi is None:
            raise error(
                f"cannot tell which values of `{variable}` are needed of `{func.name}`: an index of "
                "it depends on data without a bound", f.span,
                f"write `bound` for the data, `clamp` the index, or `{func.name}.bound({variable}, "
                "min, extent)` in the schedule",
            )  # fmt: skip
    return box


def _where(func: Func, update: int | None, ranges: Ranges, scope: Ranges) -> Ranges:
    """The ranges of a stage's variables where its `where` holds."""
    u = step(func, update)
    return ranges if u is None else narrowed(ranges, u.condition, scope)


def _touched_by(func: Func, update: int, box: Box, scope: Ranges) -> Box:
    """An update writes and reads beyond what is asked for: all that its reductions cover."""
    u = func.updates[update]
    pure = dict(zip(func.variables, box, strict=True))
    ranges = _where(func, update, {**pure, **reduce_ranges(u.reduce)}, scope)
    own = Access(func.name, u.indices, func.pure.type)
    grown = box
    for access in (own, *accesses_of(func, update, func.name)):
        seen = access_box(access, ranges, scope)
        grown = tuple(
            old if _is_plain(access, d, func) else join(old, new, scope)
            for d, (old, new) in enumerate(zip(grown, seen, strict=True))
        )
    return grown


def _is_plain(access: Access, d: int, func: Func) -> bool:
    index = access.indices[d]
    return getattr(index, "name", None) == func.variables[d]


def accesses_of(reader: Func, update: int | None, name: str) -> list[Access]:
    found = []
    for e in stage_expressions(reader, update):
        found += [n for n in nodes(e) if isinstance(n, Access) and n.name == name]
    return found


def access_box(access: Access, ranges: Ranges, scope: Ranges) -> Box:
    """The interval of each index, over the ranges of the reader's variables and what `scope` says of
    the values of data.

    The variables are renamed meanwhile: a loop around may have the name of one of them."""
    renamed = {name: Var(f"{name} of the reader") for name in ranges}
    data = {n.name for i in access.indices for n in nodes(i) if isinstance(n, Access)}
    there = {name: interval for name, interval in scope.items() if name in data}
    there |= {f"{name} of the reader": interval for name, interval in ranges.items()}
    return tuple(_tidy(bounds(substitute(i, renamed), there)) for i in access.indices)


def _tidy(x: Interval) -> Interval:
    return Interval(
        None if x.lo is None else simplify(x.lo), None if x.hi is None else simplify(x.hi)
    )


def hull(a: Box | None, b: Box, scope: Ranges) -> Box:
    if a is None:
        return b
    return tuple(join(x, y, scope) for x, y in zip(a, b, strict=True))


def join(a: Interval, b: Interval, scope: Ranges) -> Interval:
    """The smallest interval around both; an unknown end stays unknown."""
    lo = None if a.lo is None or b.lo is None else lesser(a.lo, b.lo, scope)
    hi = None if a.hi is None or b.hi is None else greater(a.hi, b.hi, scope)
    return Interval(lo, hi)


def extent_of(x: Interval) -> Expr:
    """How many values an interval with known ends has."""
    if x.lo is None or x.hi is None:
        raise ValueError("an open interval has no extent")
    return simplify(add(sub(x.hi, x.lo), 1))


def stage_ranges(func: Func, update: int | None, box: Box) -> Ranges:
    """Ranges of a stage's variables when its Func is computed over a box."""
    u = step(func, update)
    pure = dict(zip(func.variables, box, strict=True))
    return pure if u is None else {**pure, **reduce_ranges(u.reduce)}
