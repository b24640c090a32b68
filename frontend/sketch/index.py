"""Index expressions and options of sketches: from the syntax tree to the IR, and to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.frontend.sketch import ast
from hbc.ir.ground.diag import error
from hbc.ir.ground.source import Span
from hbc.ir.moves import index_expr as ir
from hbc.ir.moves.sketch import Option

LARGEST_EXTENT = 1 << 20


def to_index(expr: ast.Expr) -> ir.IndexExpr:
    """The same expression in the IR. HbcError for what is no integer and no element."""
    match expr:
        case ast.Number(value, span):
            return ir.Number(value, span)
        case ast.Name(name, span):
            return ir.Name(name, span)
        case ast.Blank(span):
            return ir.Nothing(span)
        case ast.Unary(op, operand, span):
            return ir.Unary(op, to_index(operand), span)
        case ast.Binary("/" | "%", _, ast.Number(0), span):
            raise error("this divides by 0", span)
        case ast.Binary(op, left, right, span):
            return ir.Binary(op, to_index(left), to_index(right), span)
        case ast.Conditional(condition, then, otherwise, span):
            return ir.Conditional(to_index(condition), to_index(then), to_index(otherwise), span)
        case ast.Read(array, indices, span):
            return ir.Read(array, tuple(map(to_index, indices)), span)
        case ast.Call(function, False, (), arguments, span):
            return ir.Call(function, tuple(map(to_index, arguments)), span)
        case _:
            raise error("an index is an integer formula", expr.span)


def integer(expr: ast.Expr, values: Mapping[str, Option]) -> int:
    """The value of a constant expression."""
    scope = ir.Scope({name: value for name, value in values.items() if isinstance(value, int)})
    formula = to_index(expr)
    for name in sorted(ir.names_in(formula) & values.keys() - scope.values.keys()):
        raise error(f"`{name}` is `{values[name]}`, and a number is wanted", expr.span)
    return int(ir.evaluate(formula, scope))


def shape(extents: Sequence[ast.Expr], values: Mapping[str, Option], span: Span) -> tuple[int, ...]:
    """Extents that arrays can have."""
    extents_given = tuple(integer(extent, values) for extent in extents)
    size = 1
    for extent, expr in zip(extents_given, extents, strict=True):
        if extent < 1:
            raise error(f"an extent is {extent}, and must be at least 1", expr.span)
        size *= extent
    if size > LARGEST_EXTENT:
        raise error(f"an array of {size:,} elements is too large to be searched", span)
    return extents_given


def option_value(expr: ast.Expr, values: Mapping[str, Option]) -> Option:
    """A number, a list of them, or a word; a parameter's name stands for its value."""
    match expr:
        case ast.List(items, _):
            return tuple(option_value(item, values) for item in _no_ellipsis(items))
        case ast.Name(name, _):
            return values.get(name, name)
        case _:
            return integer(expr, values)


def _no_ellipsis(items: Sequence[ast.Expr | ast.Ellipsis]) -> list[ast.Expr]:
    kept: list[ast.Expr] = []
    for item in items:
        if isinstance(item, ast.Ellipsis):
            raise error("`...` has no meaning here", item.span)
        kept.append(item)
    return kept


def free_arrays(expr: ast.Expr) -> dict[str, Span]:
    """The arrays that a formula reads, in the order in which they appear."""
    arrays: dict[str, Span] = {}
    stack: list[ast.Expr] = [expr]
    while stack:
        node = stack.pop(0)
        match node:
            case ast.Read(array, indices, span):
                arrays.setdefault(array, span)
                stack[:0] = indices
            case ast.Unary(_, operand, _):
                stack.insert(0, operand)
            case ast.Binary(_, left, right, _):
                stack[:0] = [left, right]
            case ast.Conditional(condition, then, otherwise, _):
                stack[:0] = [condition, then, otherwise]
            case ast.Call(_, _, _, arguments, _):
                stack[:0] = arguments
            case _:
                pass
    return arrays
