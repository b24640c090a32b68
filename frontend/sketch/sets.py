"""Sets of gathers that a sketch defines, and gathers written where they are used."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.index import free_arrays, integer, option_value, to_index
from hbc.ir.ground.diag import error
from hbc.ir.ground.source import Span
from hbc.ir.moves import index_expr as ir
from hbc.ir.moves.sketch import Binder, Delegate, Family, Option, Parameter, SetDefinition, Table

Values = Mapping[str, Option]
# What swizzles written with a formula for one index read, with `{0}` the formula.
ROW, COLUMN, SELECT = "swizzle_row", "swizzle_col", "select"
FORMULAS = (ROW, COLUMN, SELECT)


def define_set(node: ast.Set, values: Values) -> SetDefinition:
    """The definition; its formulas stay symbolic, because they depend on the arguments' shapes."""
    options = tuple(
        (o.name, None if o.value is None else option_value(o.value, values)) for o in node.options
    )
    parameters = None
    if node.parameters is not None:
        parameters = tuple(
            Parameter(p.name, None if p.shape is None else tuple(map(to_index, p.shape)), p.span)
            for p in node.parameters
        )
    extents = None if node.shape is None else tuple(map(to_index, node.shape))
    parts = tuple(_part(part, values) for part in node.parts)
    if parameters is None and any(isinstance(part, Family) for part in parts):
        raise error(
            f"the formulas of `{node.name}` need its arguments named", node.span,
            f"write `set {node.name}(a: [n, m]) = ...`",
        )  # fmt: skip
    return SetDefinition(node.name, options, parameters, extents, parts, node.single, node.span)


def _part(part: ast.Family | ast.Table | ast.Delegate, values: Values) -> Family | Table | Delegate:
    match part:
        case ast.Family(formula, binders, condition, spelling, cost, span):
            return Family(
                formula.variables, to_index(formula.body), tuple(map(_binder, binders)),
                None if condition is None else to_index(condition), span, formula.body.span.text,
                spelling, cost,
            )  # fmt: skip
        case ast.Table(rows, span):
            return Table(_rows(rows, values), span)
        case ast.Delegate(name, options, span):
            return Delegate(name, tuple((o.name, _passed(o)) for o in options), span)


def _binder(binder: ast.Binder) -> Binder:
    first = None if binder.first is None else to_index(binder.first)
    end = None if binder.end is None else to_index(binder.end)
    listed = tuple(map(to_index, binder.listed))
    each: ir.IndexExpr | None = None
    if binder.each is not None:
        each = ir.Number(1) if binder.each.count is None else to_index(binder.each.count)
    return Binder(binder.name, first, end, listed, binder.span, each)


def _passed(option: ast.Option) -> ir.IndexExpr | tuple[ir.IndexExpr, ...]:
    """A name may turn out to be a word, such as `none`; that is known when the set is used."""
    if option.value is None:
        raise error(f"`{option.name}` has no value", option.span)
    if isinstance(option.value, ast.List):
        items = [item for item in option.value.items if not isinstance(item, ast.Ellipsis)]
        return tuple(map(to_index, items))
    return to_index(option.value)


def _rows(rows: ast.List, values: Values) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Rows of locations: a number, `_` for no value, `zero` for the identity."""
    numbers: list[list[int]] = []
    for row in rows.items:
        if not isinstance(row, ast.List):
            raise error("a table lists rows: `table [[1, 0], [0, 1]]`", row.span)
        numbers.append([_cell(cell, values) for cell in row.items])
        if len(numbers[-1]) != len(numbers[0]):
            raise error("the rows of this table have different lengths", row.span)
    return np.array(numbers, dtype=np.int32)


def _cell(cell: ast.Expr | ast.Ellipsis, values: Values) -> int:
    match cell:
        case ast.Ellipsis(_, span):
            raise error("`...` has no meaning here", span)
        case ast.Blank():
            return -2
        case ast.Name("zero", _):
            return -1
        case _:
            location = integer(cell, values)
            if location < 0:
                raise error("a location is at least 0", cell.span, "`zero` is 0, `_` no value")
            return location


def inline_gather(name: str, formula: ast.Lambda) -> tuple[SetDefinition, dict[str, Span]]:
    """The gather of `\\i, j. a[j, i]`, and the arrays it reads, which are its arguments."""
    arrays = free_arrays(formula.body)
    if not arrays:
        raise error("this gather reads no array", formula.span, "for example `\\i, j. a[j, i]`")
    parameters = tuple(Parameter(array, None, span) for array, span in arrays.items())
    family = Family(
        formula.variables, to_index(formula.body), (), None, formula.span, formula.body.span.text
    )
    made = SetDefinition(name, (), parameters, None, (family,), True, formula.span)
    return made, arrays


def formula_gather(name: str, call: ast.Call, formula: ast.Lambda) -> SetDefinition:
    """`swizzle_row(\\i, j. e)` reads element e of the same row, `swizzle_col` of the same column, e
    taken modulo the extent; `select(\\i, j. c)` element 0 of the row where c holds, else 1."""
    if len(formula.variables) != 2:
        raise error(f"`{call.function}` takes a formula of two indices", formula.span)
    span = formula.span
    first, second = (ir.Name(v, span) for v in formula.variables)
    body = to_index(formula.body)
    rows, columns = ir.Name("rows of a", span), ir.Name("columns of a", span)
    match call.function:
        case "swizzle_row":
            indices: tuple[ir.IndexExpr, ...] = (first, ir.Binary("%", body, columns, span))
        case "swizzle_col":
            indices = (ir.Binary("%", body, rows, span), second)
        case _:
            chosen = ir.Conditional(body, ir.Number(0, span), ir.Number(1, span), span)
            indices = (first, chosen)
    parameter = Parameter("a", (rows, columns), span)
    read = ir.Read("a", indices, span)
    text = f"a[{', '.join(show(i) for i in indices)}]"
    family = Family(formula.variables, read, (), None, span, text)
    return SetDefinition(name, (), (parameter,), None, (family,), True, span)


def show(expr: ir.IndexExpr) -> str:
    """The formula as it was written."""
    match expr:
        case ir.Binary(op, left, ir.Name("rows of a" | "columns of a")):
            return f"({show(left)}) {op} extent"
        case ir.Conditional(condition, then, otherwise):
            return f"if {show(condition)} then {show(then)} else {show(otherwise)}"
        case ir.Name(name):
            return name
        case ir.Number(value):
            return str(value)
        case _:
            return "" if expr.span is None else expr.span.text
