"""Tables: Funcs of constants, evaluated when the kernel is compiled."""

from __future__ import annotations

import itertools

from hbc.frontend.program.constants import Number, evaluate
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.kernel import Table

Values = dict[tuple[int, ...], Number]


def evaluate_tables(pipeline: Pipeline) -> tuple[Table, ...]:
    """The values of each table Func over its extents, in row-major order."""
    known: dict[str, Values] = {}
    tables = []
    for f in pipeline.funcs:
        if f.table_shape is not None:
            known[f.name] = _values(f, f.table_shape, known)
            values = tuple(known[f.name].values())
            tables.append(Table(f.name, f.element, f.table_shape, values))
    return tuple(tables)


def _values(f: Func, shape: tuple[int, ...], known: dict[str, Values]) -> Values:
    values: Values = {}
    for point in itertools.product(*(range(n) for n in shape)):
        value = evaluate(f.pure, dict(zip(f.variables, point, strict=True)), known)
        if value is None:
            raise InternalError(f"`{f.name}{list(point)}` is not a constant")
        values[point] = value
    return values
