"""Reads a gather of one array that is written as a goal is: `[i in 64] x[i % 8 * 8 + i / 8]`.

The array is as large as its elements that are read need it to be, with one index rounded up to whole words
of 4 bytes, unless it is declared before: `x: [61]  [i in 16] x[4 * i]`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.index import LARGEST_EXTENT, free_arrays, shape, to_index
from hbc.frontend.sketch.parse import parse_sketch
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError, error
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span
from hbc.ir.moves.gather import Gather, Locations, Shape
from hbc.ir.moves.index_expr import OUTSIDE, Argument, Scope, locate

GOAL = "goal out == "
FORM = "write for example `[i in 64] x[i % 8 * 8 + i / 8]`"
WORD = 4  # bytes
DEEP = 1 << 20  # no index is as large


@record
class ArrayGather:
    """`array` is what it reads; locations are row-major."""

    array: str
    gather: Gather


def parse_gather(text: str, size: int | Fraction, most: int) -> ArrayGather:
    """The gather of elements of `size` bytes. HbcError for what is none, or has more than `most` bytes."""
    source = Source("--spec", text)
    declared, rest = _declared(text)
    # What stands before the expression is cut off by blanks, so that places in the text stay what they are.
    goal = _goal(Source("--spec", GOAL + " " * (len(text) - len(rest)) + rest), source)
    if not isinstance(goal, ast.Comprehension):
        raise error("a gather has indices that range", _here(goal.span, source), FORM)
    while isinstance(goal.body, ast.Comprehension):
        goal = replace(goal, variables=goal.variables + goal.body.variables, body=goal.body.body)
    arrays = free_arrays(goal.body)
    if len(arrays) != 1:
        names = " and ".join(f"`{name}`" for name in arrays) or "no array"
        raise error(f"a gather reads one array, and this {names}", _here(goal.span, source), FORM)
    extents = shape([v.extent for v in goal.variables], {}, goal.span)
    _refuse_large(prod(extents), int(most // size), source)
    ((array, _),) = arrays.items()
    index, read = _located(goal, array, extents, declared.get(array), size, source)
    _refuse_large(prod(read), int(most // size), source)
    return ArrayGather(array, Gather((read,), extents, index))


def _declared(text: str) -> tuple[dict[str, Shape], str]:
    """The shapes that are declared, and what follows them."""
    head, bracket, rest = text.partition("]")
    name, colon, _ = head.partition(":")
    if not colon or not bracket or not name.strip().isidentifier() or " in " in head:
        return {}, text
    file = parse_sketch(Source("--spec", head + "]"))
    (statement,) = file.statements
    assert isinstance(statement, ast.Define)
    return {statement.name: shape(statement.shape, {}, statement.span)}, rest.lstrip(" \t\n;")


def _goal(wrapped: Source, source: Source) -> ast.Expr:
    """The expression of the goal; mistakes are shown in the text as it was written."""
    try:
        file = parse_sketch(wrapped)
    except HbcError as failure:
        raise HbcError(*(_moved(d, source) for d in failure.diagnostics)) from None
    statement = file.statements[0]
    if len(file.statements) != 1 or not isinstance(statement, ast.Goal):
        raise error("a gather is one expression", Span(source, 0, len(source.text)), FORM)
    return statement.value


def _moved(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    span = None if diagnostic.span is None else _here(diagnostic.span, source)
    return replace(diagnostic, span=span, hint=FORM)


def _here(span: Span, source: Source) -> Span:
    start = max(0, span.start - len(GOAL))
    return Span(source, start, max(start + 1, span.end - len(GOAL)))


def _located(
    goal: ast.Comprehension, array: str, extents: Shape, declared: Shape | None,
    size: int | Fraction, source: Source,
) -> tuple[Locations, Shape]:  # fmt: skip
    """What each element reads, and the shape of the array."""
    rank = _rank(goal.body, array)
    if declared is not None and len(declared) != rank:
        message = f"`{array}` has {counted(len(declared), 'dimension')}, and is read with {rank}"
        raise error(message, _here(goal.span, source))
    grids = np.indices(extents, sparse=True)
    values = {v.name: grid for v, grid in zip(goal.variables, grids, strict=True)}
    deep = (DEEP,) * rank
    try:
        locations = locate(to_index(goal.body), Scope(values, {array: Argument(deep, 0)}))
    except HbcError as failure:
        raise HbcError(*(_moved(d, source) for d in failure.diagnostics)) from None
    locations = np.broadcast_to(locations, extents).reshape(-1)
    places = np.unravel_index(np.maximum(locations, 0), deep)
    read = declared or tuple(
        int(np.where(locations >= 0, place, 0).max(initial=0)) + 1 for place in places
    )
    if declared is None and rank == 1:
        step = max(1, int(WORD // size))
        read = (-(-read[0] // step) * step,)
    outside = locations == OUTSIDE
    for place, extent in zip(places, read, strict=True):
        outside |= (locations >= 0) & (place >= extent)
    if outside.any():
        at = np.unravel_index(int(np.flatnonzero(outside)[0]), extents)
        said = ", ".join(
            f"{v.name} = {int(number)}" for v, number in zip(goal.variables, at, strict=True)
        )
        raise error(f"`{array}` is read outside for {said}", _here(goal.span, source))
    inside = np.ravel_multi_index(
        tuple(np.where(locations >= 0, place, 0) for place in places), read
    )
    return np.where(locations >= 0, inside, locations).astype(np.int32), read


def _rank(body: ast.Expr, array: str) -> int:
    """How many indices the first element that is read has."""
    stack: list[ast.Expr] = [body]
    while stack:
        node = stack.pop()
        match node:
            case ast.Read(name, indices, _) if name == array:
                return len(indices)
            case ast.Conditional(condition, then, otherwise, _):
                stack += [otherwise, then, condition]
            case _:
                pass
    return 1


def _refuse_large(count: int, most: int, source: Source) -> None:
    if count > min(most, LARGEST_EXTENT):
        message = f"{count:,} elements are too many"
        raise error(message, Span(source, 0, len(source.text)), f"at most {most:,}")
