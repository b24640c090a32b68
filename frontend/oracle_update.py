"""One update step: reductions in any order, scatters, and the rest in order, one point at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hbc.frontend.funcs import Func, Update
from hbc.frontend.oracle_contract import Contraction, contract, contraction, pieces, window_pieces
from hbc.frontend.oracle_fold import add_terms, combine, finish_sum, fold_pairs, new_sum
from hbc.frontend.oracle_points import Axis, Box, Points, Ranges, Stored, chunks, cut, grid
from hbc.frontend.oracle_program import (
    CONTRACTED_POINTS,
    MAX_POINTS,
    Program,
    accesses,
    reads,
    update_ranges,
)
from hbc.frontend.oracle_value import Value, select, uncertainty
from hbc.ir.nodes import ASSOCIATIVE, Access, Binary, Expr, Op, Var
from hbc.ir.numpy_types import Array
from hbc.ir.types import BOOL, DType


def run_update(program: Program, func: Func, update: Update, box: Box) -> None:
    """Applies the update to the stored Func, over the box that its pure variables need."""
    reduce, pure = update_ranges(program, update, func.variables, box)
    term = folded_term(func, update)
    if term is None or len(pure) < len(update.indices):
        _in_order(program, func, update, reduce, pure)
        return
    plan = None
    if update.op is Op.ADD and update.condition is None:
        plan = contraction(term, func.element, reduce, pure)
    for piece in window_pieces(plan, pure):
        if plan is None or not _contract(program, func, plan, reduce, piece):
            for small in chunks(piece, MAX_POINTS):
                _fold(program, func, update, term, reduce, small)


def _contract(
    program: Program, func: Func, plan: Contraction, reduce: Ranges, pure: Ranges
) -> bool:
    """Adds the sums of products over a piece of the pure variables; False when it cannot."""
    stored, element = program.stored[func.name], func.element
    target = _target(func, stored, pure)
    total = new_sum(tuple(count for _, count in pure.values()), element)
    for part in cut(reduce, pieces(plan, reduce, pure, CONTRACTED_POINTS)):
        terms = contract(program, plan, part, pure, element)
        if terms is None:
            return False
        total.x += terms.x
        total.size += terms.size
        total.e += terms.e
        total.terms += terms.count
    put(stored, target, finish_sum(total, sliced(stored, target), element))
    return True


def folded_term(func: Func, update: Update) -> Expr | None:
    """`term` of an update `f[..] = f[..] op term` whose points may be combined in any order."""
    value = update.value
    if update.op not in ASSOCIATIVE or not isinstance(value, Binary) or value.op != update.op:
        return None
    own = value.a
    if not (isinstance(own, Access) and own.name == func.name and own.indices == update.indices):
        return None
    rest = (value.b, update.condition, *update.indices)
    return None if any(reads(e, func.name) for e in rest) else value.b


def reduce_pieces(reduce: Ranges, room: int) -> Iterator[tuple[Ranges, dict[str, int]]]:
    """The reduce points: variables that run along axes, and fixed ones."""
    for piece in chunks(reduce, room):
        wide = {name: r for name, r in piece.items() if r[1] > 1}
        yield wide, {name: r[0] for name, r in piece.items() if r[1] == 1}


def _fold(
    program: Program, func: Func, update: Update, term: Expr, reduce: Ranges, pure: Ranges
) -> None:
    assert update.op is not None
    stored, element = program.stored[func.name], func.element
    target = _target(func, stored, pure)
    shape = tuple(count for _, count in pure.values())
    start = sliced(stored, target)
    summed = update.op is Op.ADD and element != BOOL
    total = new_sum(shape, element) if summed else None
    room = MAX_POINTS // max(1, int(np.prod(shape)))
    for wide, fixed in reduce_pieces(reduce, room):
        points = grid({**wide, **pure}, {**program.sizes, **fixed})
        value = _masked_term(program, update, term, points, element)
        if value is None:
            continue
        if total is not None:
            add_terms(total, value, element, points.shape, len(wide))
        else:
            one = fold_pairs(update.op, element, value, points.shape, len(wide))
            start = combine(update.op, element, start, one)
    put(stored, target, start if total is None else finish_sum(total, start, element))


def _target(func: Func, stored: Stored, pure: Ranges) -> tuple[slice, ...]:
    return tuple(
        slice(pure[v][0] - o, pure[v][0] - o + pure[v][1])
        for v, o in zip(func.variables, stored.origin, strict=True)
    )


def _masked_term(
    program: Program, update: Update, term: Expr, points: Points, element: DType
) -> Value | None:
    """The term, or what changes nothing where the condition is false; None when it is nowhere."""
    if update.condition is None:
        return program.meaning(term)(points)
    condition = program.meaning(update.condition)(points)
    mask = condition.x if condition.e is None else condition.x | condition.e
    mask = np.broadcast_to(mask, points.shape)
    if not mask.any():
        return None
    assert update.op is not None
    value = program.meaning(term)(points.masked(mask))
    none = Value(np.asarray(_neutral(update.op, element), value.x.dtype))
    return select(condition, value, none, element)


def _neutral(op: Op, element: DType) -> float | int:
    lo, hi = (-np.inf, np.inf) if element.is_float else element.limits
    neutral: dict[Op, float | int] = {
        Op.ADD: 0, Op.MUL: 1, Op.MIN: hi, Op.MAX: lo, Op.OR: 0, Op.XOR: 0,
        Op.AND: 1 if element == BOOL else (-1 if lo < 0 else hi),
    }  # fmt: skip
    return neutral[op]


def sliced(stored: Stored, target: tuple[slice, ...]) -> Value:
    """Part of what is stored."""
    e = stored.value.e
    return Value(stored.value.x[target], None if e is None else e[target])


def put(stored: Stored, target: tuple[slice, ...] | tuple[Array, ...], v: Value) -> None:
    """Writes values with their uncertainty."""
    stored.value.x[target] = v.x
    if v.e is not None or stored.value.e is not None:
        stored.raise_error(stored.shape)[target] = uncertainty(v, stored.element)


def _in_order(program: Program, func: Func, update: Update, reduce: Ranges, pure: Ranges) -> None:
    """Reduce points in the declared order, the first variable outermost; all points of the pure
    variables, and of reduce variables that the update carries nothing along, at once."""
    along = {name: r for name, r in reduce.items() if _independent(func, update, name)}
    steps = [(name, range(r[0], r[0] + r[1])) for name, r in reduce.items() if name not in along]
    together = {**along, **pure}
    if any(count == 0 for _, count in together.values()):
        return
    axes = {name: Axis(n, *r) for n, (name, r) in enumerate(together.items())}
    for step in itertools.product(*(values for _, values in steps)):
        fixed = dict(zip((name for name, _ in steps), step, strict=True))
        points = Points(len(axes), axes, {**program.sizes, **fixed})
        _step(program, func, update, points)


def _independent(func: Func, update: Update, name: str) -> bool:
    """Whether points with different values of the variable neither read nor write the same place:
    it is, alone, one index of the store and of every access to the Func."""
    here = [n for n, i in enumerate(update.indices) if isinstance(i, Var) and i.name == name]
    if len(here) != 1:
        return False
    own = Var(name)
    conditions = [] if update.condition is None else [update.condition]
    return all(
        a.indices[here[0]] == own
        for e in (update.value, *update.indices, *conditions)
        for a in accesses(e)
        if a.name == func.name
    )


def _step(program: Program, func: Func, update: Update, points: Points) -> None:
    stored, element = program.stored[func.name], func.element
    condition = None
    if update.condition is not None:
        condition = program.meaning(update.condition)(points)
        mask = condition.x if condition.e is None else condition.x | condition.e
        if not mask.any():
            return
        points = points.masked(np.broadcast_to(mask, points.shape))
    value = program.meaning(update.value)(points)
    indices = [program.meaning(i)(points).x for i in update.indices]
    offsets = [i - o for i, o in zip(indices, stored.origin, strict=True)]
    at = tuple(np.broadcast_arrays(*offsets))
    if condition is not None:
        old = Value(stored.value.x[at], None if stored.value.e is None else stored.value.e[at])
        value = select(condition, value, old, element)
    put(stored, at, value)
