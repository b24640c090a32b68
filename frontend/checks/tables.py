"""Folds tables: every cell is a constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from hbc.frontend.checks.declarations import constant, extent, type_named
from hbc.frontend.checks.names import declare
from hbc.frontend.checks.types import convert, text
from hbc.frontend.checks.values import value
from hbc.frontend.program.cells import cells_of
from hbc.frontend.program.constants import Number, evaluate
from hbc.frontend.program.every_cell import every_cell
from hbc.frontend.program.funcs import Func
from hbc.frontend.program.literals import LITERAL_INT, is_broken
from hbc.frontend.program.scope import Env, Scope, Signature
from hbc.frontend.text import ast
from hbc.ir.ground.counted import counted
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Type

VARIABLES = ("x", "y", "z", "t")  # offered, where a table has that many dimensions
LARGEST_TABLE = 1 << 22  # cells: 16 MB of f32, for which C compilers take some 4 s


def table(s: ast.Table, scope: Scope) -> Func | None:
    """The Func of the table; None after a report."""
    fresh = declare(scope, s.name, "a table")
    dtype = type_named(s.type, scope)
    shape = literal_shape(s, scope)
    if fresh:
        scope.funcs[s.name.text] = Signature(dtype, len(s.extents))
    values = None if shape is None else cells(s, dtype, shape, scope)
    if values is None or shape is None or not fresh:
        scope.broken.add(s.name.text)
        return None
    known = scope.tables[s.name.text] = cells_of(shape, values)
    variables = tuple(scope.fresh("i") for _ in shape)
    return Func(
        s.name.text, dtype, variables, ir.Const(values[0], Type(dtype)), table_shape=shape,
        span=s.name.span, cells=known.values,
    )  # fmt: skip


def literal_shape(s: ast.Table, scope: Scope) -> tuple[int, ...] | None:
    extents: list[int] = []
    for e in s.extents:
        n = extent(e, scope, f"table `{s.name.text}`")
        if n is None:
            continue
        number = evaluate(n)
        if number is None:
            scope.report(
                f"the extent `{text(e)}` of table `{s.name.text}` is not known at compile time",
                e.span, "use a number or an integer param",
            )  # fmt: skip
            continue
        extents.append(int(number))
    if len(extents) < len(s.extents):
        return None
    if prod(extents) > LARGEST_TABLE:
        scope.report(
            f"table `{s.name.text}` has {prod(extents):,} cells, and {LARGEST_TABLE:,} are the most",
            s.span, "make it an input",
        )  # fmt: skip
        return None
    return tuple(extents)


def cells(s: ast.Table, dtype: DType, shape: tuple[int, ...], scope: Scope) -> list[Number] | None:
    """The values in row-major order."""
    before = len(scope.mistakes)
    if s.variables is not None:
        return formula(s, s.variables, dtype, shape, scope)
    if not isinstance(s.value, ast.Cells):
        scope.report(
            f"table `{s.name.text}` needs cells in brackets, or variables for its formula",
            s.value.span, f"write `table {s.name.text}: {dtype}[...] [x] = ...`",
        )  # fmt: skip
        return None
    values = list(listed(s.value, dtype, shape, s.name.text, scope))
    # Cells that read a broken table are missing, without a report of their own.
    return None if len(scope.mistakes) > before or len(values) < prod(shape) else values


def listed(
    c: ast.Expr | ast.Cells, dtype: DType, shape: tuple[int, ...], name: str, scope: Scope
) -> Iterator[Number]:
    if not shape:
        if isinstance(c, ast.Cells):
            scope.report(f"table `{name}` has fewer dimensions than these brackets", c.span)
            return
        number = constant(c, dtype, f"`{name}`", scope)
        if number is not None:
            yield number
        return
    if not isinstance(c, ast.Cells):
        scope.report(f"table `{name}` needs a list of {shape[0]} here", c.span)
        return
    if len(c.cells) != shape[0]:
        scope.report(
            f"table `{name}` needs {counted(shape[0], 'cell')} here, not {len(c.cells)}", c.span
        )
        return
    for inner in c.cells:
        yield from listed(inner, dtype, shape[1:], name, scope)


def formula(
    s: ast.Table, indices: Sequence[ast.Expr], dtype: DType, shape: tuple[int, ...], scope: Scope
) -> list[Number] | None:
    """The cells of `table D: f32[16, 16] [u, x] = ...`: u and x are integer literals there."""
    names = [i.text for i in indices if isinstance(i, ast.Name)]
    if len(set(names)) != len(shape) or len(indices) != len(shape):
        scope.report(
            f"table `{s.name.text}` needs {len(shape)} distinct variables", indices[0].span,
            f"such as `[{', '.join(VARIABLES[: len(shape)])}]`" if len(shape) <= len(VARIABLES) else None,
        )  # fmt: skip
        return None
    if isinstance(s.value, ast.Cells):
        scope.report("a formula is expected after the variables", s.value.span,
                     "leave the variables out to list the cells")  # fmt: skip
        return None
    variables: dict[str, ir.Expr] = {n: ir.Var(n, Type(LITERAL_INT)) for n in names}
    env = Env(scope, variables, "in a table")
    typed = convert(value(s.value, env), s.value, dtype, f"`{s.name.text}`", scope)
    if is_broken(typed):
        return None
    numbers = every_cell(typed, names, shape, scope.tables)
    if None not in numbers:
        return [n for n in numbers if n is not None]
    point: list[int] = []
    rest = numbers.index(None)
    for n in reversed(shape):
        point.insert(0, rest % n)
        rest //= n
    where = ", ".join(f"{n} = {p}" for n, p in zip(names, point, strict=True))
    scope.report(
        f"the cell {where} of table `{s.name.text}` has no constant value", s.value.span,
        "a table is made of numbers, params, its variables and earlier tables",
    )  # fmt: skip
    return None
