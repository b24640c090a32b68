"""Evaluates sets of gathers that are defined in text: one gather for each value of the binders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.source import Span
from hbc.ir.moves.gather import Locations, Shape
from hbc.ir.moves.index_expr import (
    OUTSIDE,
    Argument,
    Scope,
    conjuncts,
    evaluate,
    locate,
    names_in,
)
from hbc.ir.moves.sketch import Binder, Family, Option
from hbc.synth.sets.gather_set import Formula, GatherSet, of_rows

Columns = dict[str, NDArray[np.int64]]
Part = tuple[Locations, Formula]  # the indices of gathers, one row each, and how each is written

MOST_GATHERS = 4_000_000  # before equal ones are dropped
BYTES_AT_A_TIME = 1 << 25


def family_rows(
    family: Family,
    names: Mapping[str, int],
    arguments: Mapping[str, Argument],
    output: Shape,
    room: int,
) -> Part:
    """The gathers of a formula. HbcError when they would take more than `room` bytes."""
    if len(family.variables) != len(output):
        raise error(
            f"this formula has {counted(len(family.variables), 'index', 'indices')}, and the output "
            f"{list(output)} has {counted(len(output), 'dimension')}", family.span,
        )  # fmt: skip
    columns = admitted(family, names)
    size = prod(output)
    count = len(next(iter(columns.values()))) if columns else 1
    if count * size * 4 > room:
        raise too_large(count, size, count * size * 4, room, family.span)
    index = np.indices(output).reshape(len(output), 1, -1)
    places = dict(zip(family.variables, index, strict=True))
    rows = np.empty((count, size), dtype=np.int32)
    step = max(1, BYTES_AT_A_TIME // (8 * size))
    for start in range(0, count, step):
        chosen = {name: column[start : start + step, None] for name, column in columns.items()}
        scope = Scope({**names, **chosen, **places}, arguments)
        part = slice(start, min(start + step, count))
        rows[part] = np.broadcast_to(locate(family.body, scope), rows[part].shape)
    _refuse_outside(rows, family, columns, output)

    def formula(row: int) -> str:
        values = ", ".join(f"{name} = {column[row]}" for name, column in columns.items())
        return f"{family.text}  with {values}" if values else family.text

    return rows, formula


def too_large(gathers: int, elements: int, needed: int, room: int, span: Span) -> HbcError:
    """Of a set of up to so many gathers, which takes `needed` bytes."""
    return error(
        f"this set has up to {gathers:,} gathers of {elements:,} elements: {needed / 1e6:,.0f} MB",
        span, f"the bound is {room / 1e6:,.0f} MB: raise --memory, or range over less",
    )  # fmt: skip


def admitted(family: Family, names: Mapping[str, int]) -> Columns:
    """The values of the binders for which the condition holds; no columns where there are no binders
    and it holds. HbcError for elements that choose by themselves: those cannot be listed."""
    free = [binder for binder in family.binders if binder.each is not None]
    if free:
        raise error(
            "every element chooses by itself here: that describes an instruction, and cannot be"
            " searched", free[0].span, "let it range without `each`, over the gathers that matter",
        )  # fmt: skip
    return bound(family, names)


def bound(family: Family, names: Mapping[str, int]) -> Columns:
    """Every combination of the binders' values; ranges may depend on binders to their left. Each
    part of the condition is tested as soon as the binders that it names have values."""
    waiting = conjuncts(family.condition)
    columns: Columns = {}
    count = 1
    last = family.binders[-1] if family.binders else None
    for binder in (None, *family.binders):
        if binder is not None:
            columns, count = _widened(columns, count, binder, names, family)
        known = {*columns, *names}
        ready = [part for part in waiting if names_in(part) <= known or binder is last]
        waiting = [part for part in waiting if part not in ready]
        for part in ready:
            flags = np.broadcast_to(evaluate(part, Scope({**names, **columns})), (count,))
            kept = np.flatnonzero(flags)
            columns = {name: column[kept] for name, column in columns.items()}
            count = kept.size
    return columns if columns or count else {"": np.zeros(0, dtype=np.int64)}


def _widened(
    columns: Columns, count: int, binder: Binder, names: Mapping[str, int], family: Family
) -> tuple[Columns, int]:
    scope = Scope({**names, **columns})
    if binder.listed:
        listed = [np.broadcast_to(evaluate(v, scope), (count,)) for v in binder.listed]
        choices = np.stack(listed, axis=1)
        first, lengths = np.zeros(count, np.int64), np.full(count, len(listed))
    else:
        assert binder.end is not None
        low = np.int64(0) if binder.first is None else evaluate(binder.first, scope)
        first = np.broadcast_to(low, (count,)).astype(np.int64)
        end = np.broadcast_to(evaluate(binder.end, scope), (count,))
        lengths, choices = np.maximum(end - first, 0), None
    total = int(lengths.sum())
    if total > MOST_GATHERS:
        raise error(
            f"this set has at least {total:,} gathers", family.span,
            f"a set has at most {MOST_GATHERS:,} before equal ones are dropped: range over less",
        )  # fmt: skip
    repeated = np.repeat(np.arange(count), lengths)
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    wider = {name: column[repeated] for name, column in columns.items()}
    chosen = first[repeated] + within if choices is None else choices[repeated, within]
    return {**wider, binder.name: chosen}, total


def _refuse_outside(rows: Locations, family: Family, columns: Columns, output: Shape) -> None:
    wrong = rows == OUTSIDE
    if not wrong.any():
        return
    row, location = (int(axis[0]) for axis in np.nonzero(wrong))
    place = ", ".join(
        f"{name} = {value}"
        for name, value in zip(family.variables, np.unravel_index(location, output), strict=True)
    )
    where = "".join(f", {name} = {column[row]}" for name, column in columns.items())
    raise error(
        f"this gather reads outside of its argument at {place}{where}", family.span,
        "wrap the index with `%`, or write `if ... then ... else _`",
    )  # fmt: skip


def integers(names: Mapping[str, Option]) -> dict[str, int]:
    """What formulas may name."""
    return {name: value for name, value in names.items() if isinstance(value, int)}


def united_set(inputs: Sequence[Shape], output: Shape, parts: Sequence[Part]) -> GatherSet:
    """One set of the gathers of several parts, equal ones once."""
    rows = np.concatenate([part[0] for part in parts])
    ends = np.cumsum([len(part[0]) for part in parts])

    def formula(number: int) -> str:
        which = int(np.searchsorted(ends, number, side="right"))
        return parts[which][1](number - (int(ends[which - 1]) if which else 0))

    return of_rows(inputs, output, rows, formula)
