"""The value of a table's formula at each of many points at once, by NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from hbc.frontend.program.cells import Cells
from hbc.frontend.program.constants import Number, evaluate, plain
from hbc.frontend.program.literals import fold_call
from hbc.ir.algebra.domain import Domain, Of, fold
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

if TYPE_CHECKING:
    import numpy as np

    Many = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
    """Values, and where there are any: arrays that broadcast to the shape of the table."""

FEW = 2048  # cells: one by one they take less time than NumPy does to be loaded


def every_cell(
    e: ir.Expr, names: Sequence[str], shape: tuple[int, ...], tables: Mapping[str, Cells]
) -> list[Number | None]:
    """The values of a formula at all points of the shape, row-major, as `evaluate` has them: None where it
    has none."""
    if prod(shape) <= FEW:
        points = _points(shape)
        return [evaluate(e, dict(zip(names, p, strict=True)), tables) for p in points]
    import numpy as np

    axes = np.ogrid[tuple(slice(0, n) for n in shape)]
    there = np.asarray(True)
    with np.errstate(all="ignore"):
        variables: dict[str, Many] = {n: (axis, there) for n, axis in zip(names, axes, strict=True)}
        x, known = fold(e, _domain(tables), variables)
    if e.type.element.is_float:
        x = x.astype(np.float64)  # holds those of all others
    values: list[Number | None] = np.broadcast_to(x, shape).ravel().tolist()
    if known.all():
        return values
    fine = np.broadcast_to(known, shape).ravel().tolist()
    return [v if ok else None for v, ok in zip(values, fine, strict=True)]


def _points(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(n) for n in shape)))


def _domain(tables: Mapping[str, Cells]) -> Domain[Many]:
    """Arrays of values, in the types that stand for those of literals."""
    import numpy as np

    from hbc.ir.meaning import arith
    from hbc.ir.meaning.arith_cast import cast as converted
    from hbc.ir.meaning.arith_cast import round_to
    from hbc.ir.meaning.numpy_types import numpy_dtype

    there = np.asarray(True)

    def type_(e: ir.Expr) -> DType:
        return plain(e.type.element)

    def constant(e: ir.Const) -> Many:
        return np.asarray(e.value, numpy_dtype(type_(e))), there

    def unary(e: ir.Unary, of: Of[Many]) -> Many:
        a, known = of(e.a)
        return np.asarray(arith.unary(e.op, type_(e))(a)), known

    def binary(e: ir.Binary, of: Of[Many]) -> Many:
        (a, of_a), (b, of_b) = of(e.a), of(e.b)
        return np.asarray(arith.binary(e.op, type_(e.a))(a, b)), of_a & of_b

    def cast(e: ir.Cast, of: Of[Many]) -> Many:
        a, known = of(e.value)
        return np.asarray(converted(a, type_(e.value), type_(e))), known

    def select(e: ir.Select, of: Of[Many]) -> Many:
        (test, known), (a, of_a), (b, of_b) = of(e.condition), of(e.a), of(e.b)
        return np.where(test, a, b), known & np.where(test, of_a, of_b)

    def other(e: ir.Expr, of: Of[Many]) -> Many:
        match e:
            case ir.Call(name=name, args=(one,)):
                a, known = of(one)
                results = [fold_call(name, float(v)) for v in np.asarray(a).ravel().tolist()]
                fine = np.array([r is not None for r in results]).reshape(np.shape(a))
                x = np.array([0.0 if r is None else r for r in results]).reshape(np.shape(a))
                return round_to(x, type_(e)), known & fine
            case ir.Access(name=name, indices=indices) if name in tables:
                table = tables[name]
                data = np.array(table.values, numpy_dtype(type_(e))).reshape(table.shape)
                at, inside = [], there
                for i, n in zip(indices, table.shape, strict=True):
                    index, known = of(i)
                    inside = inside & known & (index >= 0) & (index < n)
                    at.append(np.clip(index, 0, n - 1))
                return data[tuple(np.broadcast_arrays(*at))], inside
            case _:
                return np.asarray(0, numpy_dtype(type_(e))), np.asarray(False)

    return Domain(constant, unary, binary, cast, select, other)
