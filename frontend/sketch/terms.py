"""Evaluates literals and goals: nested lists, comprehensions and folds, to arrays of terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.index import integer
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.moves.sketch import NO_TERM, ZERO_TERM, Cells, Literal, Option, Terms

NUMBERED = re.compile(r"(.*?)(\d+)")
MOST_CELLS = 1 << 20


@record
class TermScope:
    """What names mean. `symbols` is None where new symbols may be made (literals), else those that
    exist (goals)."""

    terms: Terms
    values: Mapping[str, Option]
    arrays: Mapping[str, Literal]
    symbols: frozenset[int] | None
    computed: frozenset[str] = frozenset()  # arrays whose elements are not known here


def evaluate_terms(expr: ast.Expr, scope: TermScope) -> Cells:
    """The array of term numbers; rank 0 for a single term."""
    match expr:
        case ast.List():
            return _listed(expr, scope)
        case ast.Comprehension():
            return _comprehended(expr, 0, scope)
        case ast.Fold(operation, operand, length, span):
            return _folded(operation, evaluate_terms(operand, scope), length, scope, span)
        case ast.Multiset(operation, elements, _):
            numbers = [int(_single(evaluate_terms(e, scope), e.span)) for e in elements]
            return np.array(scope.terms.fold(operation, numbers), dtype=np.int32)
        case ast.Conditional(condition, then, otherwise, _):
            return evaluate_terms(then if integer(condition, scope.values) else otherwise, scope)
        case ast.Read(array, indices, _) if array in scope.arrays:
            return np.array(_element(expr, array, indices, scope), dtype=np.int32)
        case ast.Name(name, _) if name in scope.arrays:
            return scope.arrays[name].cells
        case ast.Blank():
            return np.array(NO_TERM, dtype=np.int32)
        case _:
            return np.array(_symbol(expr, scope), dtype=np.int32)


def _symbol(expr: ast.Expr, scope: TermScope) -> int:
    """A name that is none of the values is a symbol; a number is one too, but for 0."""
    if isinstance(expr, ast.Name) and expr.name not in scope.values:
        name = expr.name
    elif isinstance(expr, ast.Read | ast.Call):
        unknown = expr.array if isinstance(expr, ast.Read) else expr.function
        hint = did_you_mean(unknown, scope.arrays) or "elements of literal arrays are: `x[i + 1]`"
        if unknown in scope.computed:
            hint = f"`{unknown}` is computed: a goal says what must come out by known elements"
        raise error(f"there is no array `{unknown}` of known elements", expr.span, hint)
    else:
        number = integer(expr, scope.values)
        if number == 0:
            return ZERO_TERM
        name = str(number)
    if scope.symbols is None:
        return scope.terms.symbol(name)
    known = scope.terms.find_symbol(name)
    if known is None or known not in scope.symbols:
        names = [scope.terms[s].name for s in scope.symbols]
        shown = ", ".join(f"`{n}`" for n in names[:3])
        if name in scope.computed:
            raise error(
                f"`{name}` is computed: a goal says what must come out by known elements", expr.span,
                f"the arrays of the sketch hold {shown}, ...",
            )  # fmt: skip
        hint = did_you_mean(name, names) or f"the arrays of the sketch hold {shown}, ..."
        raise error(f"no array of the sketch holds `{name}`", expr.span, hint)
    return known


def _element(expr: ast.Read, array: str, indices: tuple[ast.Expr, ...], scope: TermScope) -> int:
    literal = scope.arrays[array]
    at = tuple(integer(index, scope.values) for index in indices)
    inside = all(0 <= i < extent for i, extent in zip(at, literal.shape, strict=False))
    if len(at) != len(literal.shape) or not inside:
        shown = ", ".join(map(str, at))
        raise error(
            f"`{array}[{shown}]` is outside `{array}`, whose shape is {list(literal.shape)}",
            expr.span,
        )
    return int(literal.cells[at])


def _comprehended(expr: ast.Comprehension, level: int, scope: TermScope) -> Cells:
    if level == len(expr.variables):
        return evaluate_terms(expr.body, scope)
    variable = expr.variables[level]
    extent = integer(variable.extent, scope.values)
    if not 1 <= extent <= MOST_CELLS:
        raise error(f"the extent of `{variable.name}` is {extent}", variable.span)
    rows = []
    for i in range(extent):
        inner = replace(scope, values={**scope.values, variable.name: i})
        rows.append(_comprehended(expr, level + 1, inner))
    return _stacked(rows, expr.span)


def _listed(expr: ast.List, scope: TermScope) -> Cells:
    rows: list[Cells] = []
    items = list(expr.items)
    for at, item in enumerate(items):
        if not isinstance(item, ast.Ellipsis):
            rows.append(evaluate_terms(item, scope))
            continue
        before = items[at - 1] if at else None
        after = item.last or (items[at + 1] if at + 1 < len(items) else None)
        rows += _between(item.span, before, after, scope)
        if item.last is not None:
            rows.append(evaluate_terms(item.last, scope))
    if not rows:
        raise error("this list is empty", expr.span)
    return _stacked(rows, expr.span)


def _between(
    span: Span, before: ast.Expr | ast.Ellipsis | None, after: ast.Expr | ast.Ellipsis | None,
    scope: TermScope,
) -> list[Cells]:  # fmt: skip
    """The symbols between `x3` and `x7`, neither of them included."""
    if isinstance(before, ast.Name) and isinstance(after, ast.Name):
        first, last = NUMBERED.fullmatch(before.name), NUMBERED.fullmatch(after.name)
        if first and last and first[1] == last[1] and int(first[2]) < int(last[2]) < MOST_CELLS:
            numbers = range(int(first[2]) + 1, int(last[2]))
            names = [ast.Name(f"{first[1]}{number}", span) for number in numbers]
            return [evaluate_terms(name, scope) for name in names]
    raise error(
        "`...` stands between two numbered symbols", span,
        "for example `[x0, ..., x15]`; or write a comprehension: `[i in 16] x[4 * i]`",
    )  # fmt: skip


def _stacked(rows: list[Cells], span: Span) -> Cells:
    shapes = {row.shape for row in rows}
    if len(shapes) > 1:
        shown = " and ".join(str(list(s)) for s in sorted(shapes))
        raise error(f"the rows of this array have different shapes: {shown}", span)
    return np.stack(rows)


def _folded(
    operation: str, cells: Cells, length: ast.Expr | None, scope: TermScope, span: Span
) -> Cells:
    if cells.ndim == 0:
        raise error("`fold` takes an array, and this is a single term", span)
    count = cells.shape[-1] if length is None else integer(length, scope.values)
    if count < 1 or cells.shape[-1] % count:
        raise error(f"{cells.shape[-1]} elements are no multiple of {count}", span)
    grouped = cells.reshape(-1, count)
    folded = [scope.terms.fold(operation, map(int, row)) for row in grouped]
    shape = cells.shape[:-1] + ((cells.shape[-1] // count,) if count < cells.shape[-1] else ())
    return np.array(folded, dtype=np.int32).reshape(shape)


def _single(cells: Cells, span: Span) -> Cells:
    if cells.ndim:
        raise error("a single term is wanted here, and this is an array", span)
    return cells
