"""The extents to which Funcs are padded: what the whole pieces of fragments read, as constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import FuncPlan, Split
from hbc.frontend.program.funcs import Func
from hbc.frontend.regions.index_values import nest_ranges
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.padding import UnpaddedError, padded_roots, rounded
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import Box, Ranges, extent_of, needed, stage_ranges
from hbc.frontend.regions.storage import MOST_STORED
from hbc.ir.algebra.bounds import Interval, constant_bounds, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, ge, sub

PaddedExtents = Mapping[str, tuple[int, ...]]
"""By Func, how many values of each variable it is computed for, needed or not."""


def padded_extents(
    program: Program, computed: Sequence[FuncPlan], nest: Nest | None,
    boxes: Mapping[str, Box], scope: Scope,
) -> PaddedExtents:  # fmt: skip
    """Those of the padded Funcs among the ones that are computed at a level (callees first), in the
    loop nest there. Raises UnpaddedError where that is not constant."""
    padding = program.padding
    if not (padding.whole or padding.filled):
        return {}
    readers: list[tuple[Func, int | None, Ranges]] = []
    if nest is not None:
        reader = program.plan[nest.stage.func].func
        readers.append((reader, nest.stage.update, nest_ranges(_uncut(program, nest))))
    extents: dict[str, tuple[int, ...]] = {}
    for f in reversed(program.plan.values()):
        name, box = f.func.name, boxes.get(f.func.name)
        if box is None:
            continue
        if f not in computed:
            box = _of_inner(f, box, name in padding.whole, scope)
        elif name in padding.whole:
            reading = [r for r in readers if r[0].name in padding.whole and _reads(r, name)]
            wanted = needed(f, reading, scope.ranges) if reading else box
            extents[name] = tuple(
                _of_whole(f, v, ir.const_index(_wanted(f, x, y, scope)), scope)
                for v, x, y in zip(f.func.variables, box, wanted, strict=True)
            )
        elif name in padding.filled:
            wanted = needed(f, [r for r in readers if _reads(r, name)], scope.ranges)
            extents[name] = tuple(
                _of_filled(f, x, y, scope) for x, y in zip(box, wanted, strict=True)
            )
        whole = box if name not in extents else padded_box(box, extents[name])
        readers += [(f.func, s.update, _full_ranges(f, n, whole)) for n, s in enumerate(f.stages)]
    return extents


def _reads(reader: tuple[Func, int | None, Ranges], name: str) -> bool:
    func, update, _ = reader
    return any(a.name == name for a in stage_accesses(func, update))


def _wanted(f: FuncPlan, x: Interval, y: Interval, scope: Scope) -> int:
    """How many values of a dimension there are, `x`, or are read of whole pieces, `y`."""
    return max(_most(f, extent_of(x), scope), _of_filled(f, x, y, scope))


def _of_inner(f: FuncPlan, box: Box, whole: bool, scope: Scope) -> Box:
    """What a Func that is computed in inner loops has of its values, as far as that is constant."""
    out: list[Interval] = []
    for v, x in zip(f.func.variables, box, strict=True):
        _, most = constant_bounds(extent_of(x), scope.ranges)
        room = _of_whole(f, v, extent_of(x), scope) if whole and most and most > 0 else None
        out.append(x if room is None else padded_box((x,), (room,))[0])
    return tuple(out)


def padded_box(box: Box, extents: tuple[int, ...]) -> Box:
    """A box as large as there is room for."""
    return tuple(
        Interval(x.lo, None if x.lo is None else simplify(add(x.lo, n - 1)))
        for x, n in zip(box, extents, strict=True)
    )


def _uncut(program: Program, nest: Nest) -> Nest:
    """The nest as it runs where its Func is computed whole."""
    if not nest.padded:
        return nest
    pieces = (s for s in nest.stage.relations if isinstance(s, Split) and s.old in nest.padded)
    known = frozenset(s for s in pieces if nest.is_determined(s.outer))
    return replace(nest, limits={}, whole=nest.whole | known)


def _of_whole(f: FuncPlan, variable: str, extent: ir.Expr, scope: Scope) -> int:
    most = _most(f, extent, scope)
    for stage in (*f.stages, *f.stages):
        if variable in stage.roots:
            most = rounded(stage, variable, most)
    return most


def _of_filled(f: FuncPlan, box: Interval, wanted: Interval, scope: Scope) -> int:
    if box.lo is None or wanted.lo is None or wanted.hi is None:
        raise UnpaddedError(f.func.name)
    if prove(ge(wanted.lo, box.lo), scope.ranges) is not True:
        raise UnpaddedError(f.func.name)
    return _most(f, simplify(add(sub(wanted.hi, box.lo), 1)), scope)


def _most(f: FuncPlan, extent: ir.Expr, scope: Scope) -> int:
    _, most = constant_bounds(extent, scope.ranges)
    if most is None or not 0 < most <= MOST_STORED:
        raise UnpaddedError(f.func.name)
    return most


def _full_ranges(f: FuncPlan, number: int, box: Box) -> Ranges:
    """The ranges of a stage's variables, those of sums as far as their pieces go."""
    stage = f.stages[number]
    ranges = dict(stage_ranges(f.func, stage.update, box))
    for name in padded_roots(f, stage) & stage.reduce if stage.update is not None else ():
        x = ranges[name]
        extent = simplify(extent_of(x))
        if x.lo is not None and isinstance(extent, ir.Const):
            last = rounded(stage, name, int(extent.value)) - 1
            ranges[name] = Interval(x.lo, simplify(add(x.lo, ir.const_index(last))))
    return ranges
