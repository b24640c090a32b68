"""Bounds inference: which part of each Func its consumers need at a level of the loop nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from hbc.frontend.plans.legal import accesses_in, stage_expressions
from hbc.frontend.plans.plan import FuncPlan, Promise, step
from hbc.frontend.program.funcs import Func, Image, ReduceVar
from hbc.frontend.regions.index_values import aligned_name, at_position
from hbc.frontend.regions.value_ranges import data_ranges
from hbc.ir.algebra.bounds import Facts, Interval, bounds, prove
from hbc.ir.algebra.facts import facts_of, implied
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError, error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, le, maximum, minimum, sub
from hbc.ir.lang.walk import substitute

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
    """What is computed of `f`: what is `needed`, or what the schedule promises to be that."""
    return as_promised(f, needed(f, readers, scope, box))


def as_promised(f: FuncPlan, box: Box) -> Box:
    """What is needed, with the intervals that the schedule gives. HbcError where one is open."""
    func = f.func
    for promise in f.bounds:
        at = func.variables.index(promise.variable)
        box = (*box[:at], promised(promise), *box[at + 1 :])
    for variable, interval in zip(func.variables, box, strict=True):
        if interval.lo is None or interval.hi is None:
            raise error(
                f"cannot tell which values of `{variable}` are needed of `{func.name}`: an index of "
                "it depends on data without a bound", f.span,
                f"write `bound` for the data, `clamp` the index, or `{func.name}.bound({variable}, "
                "min, extent)` in the schedule",
            )  # fmt: skip
    return box


def needed(
    f: FuncPlan,
    readers: list[tuple[Func, int | None, Ranges]],
    scope: Facts | Ranges,
    box: Box | None = None,
    alone: bool = False,
) -> Box:
    """The hull of what the reader stages access of `f` and (unless `alone`) of what its own updates
    touch; all of an output, `box`, beyond which the checks on entry let nothing read or write.

    A reader comes with the ranges of its variables; `scope` gives those of the names around it."""
    func, facts = f.func, facts_of(scope)
    if box is None:
        boxes = [
            one
            for reader, update, given in readers
            for accesses, where in accesses_of(reader, update, func.name)
            for one in access_boxes(accesses, given, facts, where)
        ]
        if not boxes:
            raise InternalError(f"nothing reads `{func.name}` here")
        box = hull(boxes, facts)
        for update in () if alone else range(len(func.updates)):
            box = _touched_by(func, update, box, facts)
    return box


def promised(p: Promise) -> Interval:
    """The values that a `bound` directive names."""
    return Interval(p.least, simplify(sub(add(p.least, p.extent), 1)))


def _touched_by(func: Func, update: int, box: Box, scope: Facts | Ranges) -> Box:
    """An update writes and reads beyond what is asked for: all that its reductions cover."""
    u = func.updates[update]
    pure = dict(zip(func.variables, box, strict=True))
    ranges = {**pure, **reduce_ranges(u.reduce)}
    own = ir.Access(func.name, u.indices, func.pure.type)
    grown = box
    for accesses, where in (([own], u.condition), *accesses_of(func, update, func.name)):
        for access in accesses:
            seen = access_box(access, ranges, scope, where)
            grown = tuple(
                old if _is_plain(access, d, func) else join(old, new, scope)
                for d, (old, new) in enumerate(zip(grown, seen, strict=True))
            )
    return grown


def _is_plain(access: ir.Access, d: int, func: Func) -> bool:
    index = access.indices[d]
    return getattr(index, "name", None) == func.variables[d]


def accesses_of(
    reader: Func, update: int | None, name: str
) -> list[tuple[list[ir.Access], ir.Expr | None]]:
    """What a stage reads of a Func, and the condition under which it does. The condition itself is
    evaluated at every point: what stands in it is read there."""
    u = step(reader, update)
    where = None if u is None else u.condition
    inside = [] if where is None else _accesses(where, name)
    others = [
        a for e in stage_expressions(reader, update) if e is not where for a in _accesses(e, name)
    ]
    return [(found, w) for found, w in ((others, where), (inside, None)) if found]


def _accesses(e: ir.Expr, name: str) -> list[ir.Access]:
    return [a for a in accesses_in(e) if a.name == name]


def access_box(
    access: ir.Access, ranges: Ranges, scope: Facts | Ranges, where: ir.Expr | None = None
) -> Box:
    """The interval of each index, over the ranges of the reader's variables as far as the condition
    `where` holds, and what `scope` says of sizes and of the values of data."""
    return access_boxes([access], ranges, scope, where)[0]


def access_boxes(
    accesses: list[ir.Access], ranges: Ranges, scope: Facts | Ranges, where: ir.Expr | None = None
) -> list[Box]:
    """The box of each access, in which an index that several have has one interval. (Together, since what is
    found out for one serves the others.)

    The variables are renamed meanwhile: a loop around may have the name of one of them."""
    renamed = {name: _value(x) or ir.Var(f"{name} of the reader") for name, x in ranges.items()}
    aligned = renamed | {n: renamed[aligned_name(n)] for n in ranges if aligned_name(n) in ranges}
    outside = facts_of(scope)
    around = outside.ranges
    read = [i for a in accesses for i in a.indices]
    data = data_ranges(read if where is None else [*read, where], around)
    there = {name: x for name, x in data.items() if name not in around}
    there |= {name: x for name, x in around.items() if name in data or not x.goes}
    there |= {f"{name} of the reader": interval for name, interval in ranges.items()}
    known = () if where is None else tuple(implied(substitute(where, renamed)))
    inside = Facts(there, known)
    spans = {
        i: _tidy(bounds(at_position(i, renamed, aligned), inside), outside)
        for i in dict.fromkeys(i for a in accesses for i in a.indices)
    }
    return [tuple(spans[i] for i in a.indices) for a in accesses]


def _value(x: Interval) -> ir.Expr | None:
    """The only one: an index of it, however it bends, then has both its ends there."""
    return x.lo if x.lo == x.hi else None


def _tidy(x: Interval, facts: Facts) -> Interval:
    return Interval(
        None if x.lo is None else simplify(x.lo, facts),
        None if x.hi is None else simplify(x.hi, facts),
    )


def hull(boxes: Sequence[Box], scope: Facts | Ranges) -> Box:
    """Around all of them: of a dimension, around its intervals, most of which the accesses of a stencil have
    in common."""
    return tuple(
        reduce(lambda x, y: join(x, y, scope), {id(x): x for x in intervals}.values())
        for intervals in zip(*boxes, strict=True)
    )


def common(a: Box, b: Box, scope: Facts | Ranges) -> Box:
    """What both boxes have in common. From within a loop, less may be known of what is needed than
    from outside, where the memory for it was sized. Of two names for a value it is that of `a`."""
    return tuple(
        Interval(
            None if x.lo is None or y.lo is None else greater(y.lo, x.lo, scope),
            None if x.hi is None or y.hi is None else lesser(x.hi, y.hi, scope),
        )
        for x, y in zip(a, b, strict=True)
    )


def join(a: Interval, b: Interval, scope: Facts | Ranges) -> Interval:
    """The smallest interval around both; an unknown end stays unknown."""
    lo = None if a.lo is None or b.lo is None else lesser(a.lo, b.lo, scope)
    hi = None if a.hi is None or b.hi is None else greater(a.hi, b.hi, scope)
    return Interval(lo, hi)


def lesser(a: ir.Expr, b: ir.Expr, scope: Facts | Ranges) -> ir.Expr:
    """The smaller of two bounds, decided where the scope allows."""
    if a == b or prove(le(a, b), scope):
        return a
    return b if prove(le(b, a), scope) else simplify(minimum(a, b))


def greater(a: ir.Expr, b: ir.Expr, scope: Facts | Ranges) -> ir.Expr:
    """The larger of two bounds, decided where the scope allows."""
    if a == b or prove(le(a, b), scope):
        return b
    return a if prove(le(b, a), scope) else simplify(maximum(a, b))


def extent_of(x: Interval) -> ir.Expr:
    """How many values an interval with known ends has."""
    if x.lo is None or x.hi is None:
        raise ValueError("an open interval has no extent")
    return simplify(add(sub(x.hi, x.lo), 1))


def stage_ranges(func: Func, update: int | None, box: Box) -> Ranges:
    """Ranges of a stage's variables when its Func is computed over a box."""
    u = step(func, update)
    pure = dict(zip(func.variables, box, strict=True))
    return pure if u is None else {**pure, **reduce_ranges(u.reduce)}
