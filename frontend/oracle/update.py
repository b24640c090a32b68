"""One update step: reductions in any order, scatters, and the rest in order, one point at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from hbc.frontend.oracle.contract import contract
from hbc.frontend.oracle.factors import Contraction, contraction, pieces, window_pieces
from hbc.frontend.oracle.fold import (
    add_perhaps,
    add_scattered,
    add_terms,
    combine,
    finish_sum,
    fold_pairs,
    in_any_order,
    new_sum,
    reach_of,
    unrounded,
)
from hbc.frontend.oracle.points import Box, Points, Ranges, Stored, chunks, cut, grid
from hbc.frontend.oracle.product import finish_product, multiply_scattered, new_product
from hbc.frontend.oracle.program import (
    CONTRACTED_POINTS,
    MAX_POINTS,
    Program,
    reads,
    update_ranges,
)
from hbc.frontend.oracle.scan import run_in_order
from hbc.frontend.oracle.store import places, put, sliced
from hbc.frontend.oracle.value import Value, select, taken, uncertainty
from hbc.frontend.program.funcs import Func, Update, values_of
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.addends import addends, is_product
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.lang.walk import nodes_of, rewrite, substitute

MAX_ADDENDS = 1000
"""Sums of more are not taken apart. (Funcs that add Funcs may be sums of billions.)"""


def run_update(program: Program, func: Func, update: Update, box: Box) -> None:
    """Applies the update to the stored Func, over the box that its pure variables need."""
    if func.others:
        parts = list(apart(func, update))
        if all(folded_term(*part) is not None for part in parts):
            for part in parts:
                run_update(program, *part, box)
            return
    reduce, pure = update_ranges(program, update, func.variables, box)
    term = folded_term(func, update)
    scattered = len(pure) < len(update.indices)
    summed = update.op is ir.Op.ADD and func.element != BOOL
    if term is not None and scattered and (summed or _rounds(func, update)):
        _scatter(program, func, update, term, {**reduce, **pure})
        return
    if term is None or scattered:
        run_in_order(program, func, update, reduce, pure)
        return
    terms = _terms(program, term) if summed and func.element.is_float else [term]
    plan = None
    if update.op is ir.Op.ADD and update.condition is None and len(terms) == 1:
        plan = contraction(term, func.element, reduce, pure)
    for piece in window_pieces(plan, pure):
        if plan is None or not _contract(program, func, plan, reduce, piece):
            for small in chunks(piece, MAX_POINTS):
                _fold(program, func, update, terms, reduce, small)


def apart(func: Func, update: Update) -> Iterator[tuple[Func, Update]]:
    """Each part of a Func of several values as a Func of its own; without its operator where it reads the
    others, which `folded_term` says of the first part for conditions and indices."""
    for part, value in zip(func.parts, values_of(update.value), strict=True):

        def own(n: ir.Expr, name: str = part.name) -> ir.Expr:
            if isinstance(n, ir.Access) and n.name == func.name and n.array == name:
                return ir.Access(name, n.indices, n.type, n.span)
            return n

        one = rewrite(value, own)
        others = [n for n in nodes_of(one, ir.Access) if n.name == func.name]
        alone = not any(n.part or n.name != part.name for n in others)
        op = one.op if isinstance(one, ir.Binary) and alone else None
        whole = replace(func, name=part.name, element=part.element, others=())
        yield whole, replace(update, value=one, op=op)


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


def folded_term(func: Func, update: Update) -> ir.Expr | None:
    """`term` of an update `f[..] = f[..] op term` whose points may be combined in any order."""
    value = update.value
    if update.op not in ir.ASSOCIATIVE or not isinstance(value, ir.Binary) or value.op != update.op:
        return None
    own = value.a
    if not (isinstance(own, ir.Access) and own.name == func.name and own.indices == update.indices):
        return None
    rest = (value.b, update.condition, *update.indices)
    return None if any(reads(e, func.name) for e in rest) else value.b


def reduce_pieces(reduce: Ranges, room: int) -> Iterator[tuple[Ranges, dict[str, int]]]:
    """The reduce points: variables that run along axes, and fixed ones."""
    for piece in chunks(reduce, room):
        wide = {name: r for name, r in piece.items() if r[1] > 1}
        yield wide, {name: r[0] for name, r in piece.items() if r[1] == 1}


def _terms(program: Program, term: ir.Expr) -> list[ir.Expr]:
    """The term, or the products of which it is the sum once Funcs are inlined: instructions add
    products one by one, so that each is a term."""
    terms = list(islice(addends(term, lambda e: _inlined(program, e)), MAX_ADDENDS + 1))
    apart = 1 < len(terms) <= MAX_ADDENDS and all(map(is_product, terms))
    return terms if apart else [term]


def _inlined(program: Program, e: ir.Expr) -> ir.Expr:
    """An access to a Func of one definition as its value, `let`s without their names."""
    match e:
        case ir.Let(name=name, value=value, body=body):
            return _inlined(program, substitute(body, {name: value}))
        case ir.Access(name=name, indices=indices):
            for func in program.pipeline.funcs:
                if func.name == name and not func.updates and func.table_shape is None:
                    values = dict(zip(func.variables, indices, strict=True))
                    return _inlined(program, substitute(func.value(e.part), values))
            return e
        case _:
            return e


def _fold(
    program: Program,
    func: Func,
    update: Update,
    terms: list[ir.Expr],
    reduce: Ranges,
    pure: Ranges,
) -> None:
    assert update.op is not None
    stored, element = program.stored[func.name], func.element
    target = _target(func, stored, pure)
    shape = tuple(count for _, count in pure.values())
    start = sliced(stored, target)
    summed = update.op is ir.Op.ADD and element != BOOL
    total = new_sum(shape, element) if summed else None
    reach = reach_of(start, shape, 0) if update.op is ir.Op.MUL and element.is_float else None
    room = MAX_POINTS // max(1, int(np.prod(shape)))
    for wide, fixed in reduce_pieces(reduce, room):
        points = grid({**wide, **pure}, {**program.sizes, **fixed})
        for term in terms:
            value = _masked_term(program, update, term, points, element)
            if value is None:
                continue
            if total is not None:
                add_terms(total, value, element, points.shape, len(wide))
                continue
            if reach is not None:
                more = reach_of(value, points.shape, len(wide))
                reach.up, reach.down = reach.up + more.up, reach.down + more.down
            one = fold_pairs(update.op, element, value, points.shape, len(wide))
            start = combine(update.op, element, start, one)
    if total is not None:
        start = finish_sum(total, start, element)
    elif reach is not None:
        start = in_any_order(start, reach, element)
    put(stored, target, start)


def _target(func: Func, stored: Stored, pure: Ranges) -> tuple[slice, ...]:
    return tuple(
        slice(pure[v][0] - o, pure[v][0] - o + pure[v][1])
        for v, o in zip(func.variables, stored.origin, strict=True)
    )


def _masked_term(
    program: Program, update: Update, term: ir.Expr, points: Points, element: DType
) -> Value | None:
    """The term, or what changes nothing where the condition is false; None when it is nowhere."""
    exact = update.op is ir.Op.ADD and element in program.fused and is_product(term)

    def whole(points: Points) -> Value:
        value = program.meaning(term)(points)
        return unrounded(value, element) if exact else value

    if update.condition is None:
        return whole(points)
    condition = program.meaning(update.condition)(points)
    points = points.where(condition)
    if points.mask is None or not points.mask.any():
        return None
    assert update.op is not None
    value = whole(points)
    none = Value(np.asarray(_neutral(update.op, element), value.x.dtype))
    return select(condition, value, none, element)


def _neutral(op: ir.Op, element: DType) -> float | int:
    lo, hi = element.ends
    neutral: dict[ir.Op, float | int] = {
        ir.Op.ADD: 0, ir.Op.MUL: 1, ir.Op.MIN: hi, ir.Op.MAX: lo, ir.Op.OR: 0, ir.Op.XOR: 0,
        ir.Op.AND: 1 if element == BOOL else (-1 if lo < 0 else hi),
    }  # fmt: skip
    return neutral[op]


def _rounds(func: Func, update: Update) -> bool:
    """Whether products depend on the order of their factors."""
    return update.op is ir.Op.MUL and func.element.is_float


def _scatter(program: Program, func: Func, update: Update, term: ir.Expr, ranges: Ranges) -> None:
    """Adds terms, or multiplies by factors, at places that may coincide."""
    stored, element = program.stored[func.name], func.element
    total = new_sum(stored.shape, element)
    total.terms = np.zeros(stored.shape, np.int64)
    product = new_product(stored.shape, element) if _rounds(func, update) else None
    for piece in chunks(ranges, MAX_POINTS):
        points = grid(piece, program.sizes)
        value = _masked_term(program, update, term, points, element)
        if value is not None:
            if update.condition is not None:
                points = points.where(program.meaning(update.condition)(points))
            to = places(program, update, stored, points)
            each = [(i >= 0) & (i < n) for i, n in zip(to.at, stored.shape, strict=True)]
            inside = np.logical_and.reduce(each)
            if to.off is not None:
                unsure = inside & np.logical_or.reduce([o > 0 for o in to.off])
                add_perhaps(total, to.where(unsure), taken(value, unsure), element)
                inside &= ~unsure
            if product is not None:
                multiply_scattered(product, to.at, value, element, inside)
            else:
                add_scattered(total, to.at, value, element, inside)
    start = stored.value
    done = finish_sum(total, start, element)
    if product is not None:
        anywhere = np.asarray(total.e > 0)
        done = finish_product(product, start, element)
        if anywhere.any():  # where a factor is only perhaps one
            done.e = np.where(anywhere, np.inf, uncertainty(done, element))
    put(stored, (slice(None),) * len(stored.shape), done)
