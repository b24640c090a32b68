"""Sums of products of two factors by matrix products, so that a convolution or gemm takes seconds.

Each factor is evaluated over the grid of the variables that it mentions. The other factor of a
sliding window becomes a Toeplitz matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbc.frontend.oracle.factors import BLOCK, Contraction, Window, grid_size
from hbc.frontend.oracle.floats import LEAST, roundoff
from hbc.frontend.oracle.points import Axis, Points, Ranges
from hbc.frontend.oracle.program import Program
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """What a piece of the reduction adds: the sum, the sum of magnitudes and of uncertainties, over
    the pure variables; `count` terms each."""

    x: Array
    size: Array
    e: Array
    count: int


def contract(
    program: Program, c: Contraction, reduce: Ranges, pure: Ranges, element: DType
) -> Terms | None:
    """The sums over the reduce ranges, shaped as the pure ranges. None when a factor has infinities
    or NaN (which must not meet the zeros of a Toeplitz matrix), or is an uncertain integer."""
    block = 1
    if c.window is not None:
        block = min(BLOCK, pure[c.window.pure][1])
    first = _first(program, c, reduce, pure, block)
    second = _second(program, c, reduce, pure, block)
    if first is None or second is None:
        return None
    depth = int(np.prod([n for _, n in reduce.values()], dtype=np.int64))
    shape = _result_shape(c, pure, block)

    def placed(product: Array) -> Array:
        return _to_pure(c, product.reshape(shape), pure)

    if not element.is_float:
        if first.e is not None or second.e is not None:
            return None
        zero = np.zeros(())
        return Terms(placed(_integer_product(first.x, second.x, depth, element)), zero, zero, depth)
    scale = _left_out(c, reduce)
    x = placed(np.matmul(first.x, second.x)) * scale
    size = placed(np.matmul(first.size, second.size)) * scale
    e = size * (0.0 if c.exact else roundoff(element)) + depth * LEAST[element]
    if first.e is not None or second.e is not None:
        most = placed(np.matmul(first.most, second.most)) * scale
        e = e * 2 + np.maximum(most - size, 0) + most * ((depth + 2) * 2.0**-52)
    # Matrix products are computed in f64, whatever the type.
    return Terms(x, size, e + size * ((depth + 2) * 2.0**-53), depth)


def _left_out(c: Contraction, reduce: Ranges) -> int:
    """How many equal terms the reduce variables that no factor mentions make."""
    used = c.summed + c.first_only + c.second_only
    return int(np.prod([n for v, (_, n) in reduce.items() if v not in used], dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class _Matrix:
    """A batch of matrices: values, magnitudes, uncertainties."""

    x: Array
    size: Array
    e: Array | None

    @property
    def most(self) -> Array:
        return self.size if self.e is None else self.size + self.e


def _first(
    program: Program, c: Contraction, reduce: Ranges, pure: Ranges, block: int
) -> _Matrix | None:
    names = c.batch + c.left + c.summed + c.first_only
    axes = {}
    for n, name in enumerate(names):
        start, count = pure[name] if name in pure else reduce[name]
        step = 1
        if c.window is not None and name == c.window.pure:
            count, step = count // block, block
        if c.window is not None and name == c.window.reduce:
            count += c.window.stride * (block - 1)
        axes[name] = Axis(n, start, count, step)
    groups = (c.batch, c.left, c.summed, c.first_only)
    return _matrix(program, c.first, axes, groups)


def _second(
    program: Program, c: Contraction, reduce: Ranges, pure: Ranges, block: int
) -> _Matrix | None:
    names = c.batch + c.summed + c.right + c.second_only
    axes = {v: Axis(n, *(pure[v] if v in pure else reduce[v])) for n, v in enumerate(names)}
    groups = (c.batch, c.summed, c.right, c.second_only)
    matrix = _matrix(program, c.second, axes, groups)
    if matrix is None or c.window is None:
        return matrix
    shape = tuple(axes[v].count for v in c.batch + c.summed)
    at = len(c.batch) + c.summed.index(c.window.reduce)

    def toeplitz(x: Array) -> Array:
        return _toeplitz(x.reshape(shape), at, c.window, block, len(c.batch))

    e = None if matrix.e is None else toeplitz(matrix.e)
    return _Matrix(toeplitz(matrix.x), toeplitz(matrix.size), e)


def _toeplitz(x: Array, at: int, window: Window | None, block: int, batch: int) -> Array:
    """T[.., stride * i + r, .., i] = x[.., r, ..] for the `block` values of i; 0 elsewhere."""
    assert window is not None
    moved = np.moveaxis(x, at, 0)
    taps = len(moved)
    band = np.zeros((taps + window.stride * (block - 1), *moved.shape[1:], block), x.dtype)
    for i in range(block):
        band[window.stride * i : window.stride * i + taps, ..., i] = moved
    band = np.moveaxis(band, 0, at)
    groups = (int(np.prod(band.shape[:batch], dtype=np.int64)), -1, block)
    return np.asarray(band.reshape(groups))


def _matrix(
    program: Program, e: ir.Expr, axes: dict[str, Axis], groups: tuple[tuple[str, ...], ...]
) -> _Matrix | None:
    """The factor over its grid as a batch of matrices, what only it mentions summed."""
    value = program.meaning(e)(Points(len(axes), axes, program.sizes))
    counts = {name: axis.count for name, axis in axes.items()}
    shape = tuple(grid_size(group, counts) for group in groups)
    full = tuple(axis.count for axis in axes.values())
    x = np.broadcast_to(value.x, full).reshape(shape)
    if x.dtype.kind in "iub":
        known = value.e is None
        wide = x.astype(np.int64).sum(axis=3)
        return _Matrix(wide, wide, None if known else np.ones(()))
    x = x.astype(np.float64, copy=False)
    if not np.isfinite(x).all():
        return None
    if value.e is None:
        return _Matrix(x.sum(axis=3), np.abs(x).sum(axis=3), None)
    spread = np.broadcast_to(value.e, full).reshape(shape)
    if not np.isfinite(spread).all():
        return None
    return _Matrix(x.sum(axis=3), np.abs(x).sum(axis=3), spread.sum(axis=3))


def _integer_product(a: Array, b: Array, depth: int, element: DType) -> Array:
    """Exact modulo the width of the type."""
    most = _greatest(a) * _greatest(b) * depth
    if most < 2.0**53:
        whole = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    else:
        whole = np.matmul(a, b)
    return np.asarray(whole.astype(numpy_dtype(element)))


def _greatest(x: Array) -> float:
    return float(np.abs(x.astype(np.float64)).max(initial=0))


def _result_shape(c: Contraction, pure: Ranges, block: int) -> tuple[int, ...]:
    names = c.batch + c.left + c.right
    shape = [pure[v][1] // (block if c.window and v == c.window.pure else 1) for v in names]
    return (*shape, block)


def _to_pure(c: Contraction, product: Array, pure: Ranges) -> Array:
    """Axes in the order of the pure variables, the window's blocks joined."""
    names = c.batch + c.left + c.right
    order = [names.index(v) for v in pure if v in names]
    split = product.ndim - 1
    if c.window is not None:
        place = [v for v in pure if v in names].index(c.window.pure) + 1
        order.insert(place, split)
    else:
        order.append(split)
    shape = [pure[v][1] if v in names else 1 for v in pure]
    return np.transpose(product, order).reshape(shape)
