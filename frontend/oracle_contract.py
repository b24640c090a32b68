"""Sums of products of two factors by matrix products, so that a convolution or gemm takes seconds.

Each factor is evaluated over the grid of the variables that it mentions; what both mention is
summed or batched. Where one factor is a window that slides (x and r only as a * x + r), as in a
convolution, x is cut into blocks and the other factor becomes a Toeplitz matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hbc.frontend.oracle_float import LEAST, is_narrow, roundoff
from hbc.frontend.oracle_points import Axis, Points, Ranges, chunks, linear
from hbc.frontend.oracle_program import CONTRACTED_POINTS, Program, accesses
from hbc.ir.nodes import Access, Binary, Cast, Expr, Op
from hbc.ir.numpy_types import Array, numpy_dtype
from hbc.ir.types import BOOL, DType
from hbc.ir.walk import free_variables

_BLOCK = 64
"""How many positions of a sliding window share a matrix."""


@dataclass(frozen=True, slots=True)
class Window:
    """The first factor depends on `pure` and `reduce` only through `stride * pure + reduce`."""

    pure: str
    reduce: str
    stride: int


@dataclass(frozen=True, slots=True)
class Contraction:
    """Two factors, and for each kind of variable those that it has. `exact`: products of the factors
    are exact at the declared type."""

    first: Expr
    second: Expr
    batch: tuple[str, ...]  # pure, in both
    left: tuple[str, ...]  # pure, in the first only
    right: tuple[str, ...]  # pure, in the second only
    summed: tuple[str, ...]  # reduce, in both
    first_only: tuple[str, ...]  # reduce
    second_only: tuple[str, ...]  # reduce
    window: Window | None
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """What a piece of the reduction adds: the sum, the sum of magnitudes and of uncertainties, over
    the pure variables; `count` terms each."""

    x: Array
    size: Array
    e: Array
    count: int


def contraction(term: Expr, element: DType, reduce: Ranges, pure: Ranges) -> Contraction | None:
    """How to compute the sums of `term` by matrix products; None when that is not faster."""
    if (
        not (isinstance(term, Binary) and term.op is Op.MUL)
        or is_narrow(element)
        or element == BOOL
    ):
        return None
    for first, second in ((term.a, term.b), (term.b, term.a)):
        found = _classify(first, second, element, reduce, pure)
        if _worthwhile(found, reduce, pure):
            return found
    return None


def _classify(
    first: Expr, second: Expr, element: DType, reduce: Ranges, pure: Ranges
) -> Contraction:
    one, two = free_variables(first), free_variables(second)
    left = tuple(v for v in pure if v in one and v not in two)
    summed = tuple(v for v in reduce if v in one and v in two)
    right = tuple(v for v in pure if v in two and v not in one)
    return Contraction(
        first,
        second,
        tuple(v for v in pure if v in one and v in two),
        left,
        right,
        summed,
        tuple(v for v in reduce if v in one and v not in two),
        tuple(v for v in reduce if v in two and v not in one),
        None if right else _window(first, left, summed, reduce),
        not element.is_float or _bits(first) + _bits(second) <= element.precision,
    )


def _worthwhile(c: Contraction, reduce: Ranges, pure: Ranges) -> bool:
    """Whether each evaluated element of a factor is used many times."""
    counts = {name: count for name, (_, count) in (*reduce.items(), *pure.items())}
    right = _size(c.right, counts) if c.window is None else min(_BLOCK, counts[c.window.pure])
    return min(_size(c.left, counts), right) >= 8 and _size(c.summed, counts) >= 2


def _size(names: tuple[str, ...], counts: dict[str, int]) -> int:
    return int(np.prod([counts[name] for name in names], dtype=np.int64))


def _window(
    first: Expr, left: tuple[str, ...], summed: tuple[str, ...], reduce: Ranges
) -> Window | None:
    """The sliding window with most positions."""
    candidates = [
        Window(x, r, stride)
        for x in left
        for r in summed
        if (stride := _stride(first, x, r)) is not None and reduce[r][1] >= 4
    ]
    return max(candidates, key=lambda w: reduce[w.reduce][1], default=None)


def _stride(e: Expr, x: str, r: str) -> int | None:
    """a, when `e` mentions x and r only as `a * x + r` inside indices."""
    strides = set()
    for one in accesses(e):
        for index in one.indices:
            if not {x, r} & free_variables(index):
                continue
            form = linear(index)
            terms = {} if form is None else dict(form.terms)
            if terms.get(r) != 1 or terms.get(x, 0) < 1:
                return None
            strides.add(terms[x])
    if len(strides) != 1 or not _only_indices(e):
        return None
    return strides.pop()


def _only_indices(e: Expr) -> bool:
    """Casts and products of accesses: variables occur in indices only."""
    match e:
        case Access():
            return True
        case Cast(value=value):
            return _only_indices(value)
        case Binary(op=Op.MUL, a=a, b=b):
            return _only_indices(a) and _only_indices(b)
        case _:
            return False


def _bits(e: Expr) -> int:
    """Significant bits that a float factor may have."""
    source = e.value.type.element if isinstance(e, Cast) else e.type.element
    return source.precision if source.is_float else source.bits


def pieces(c: Contraction, reduce: Ranges, pure: Ranges, limit: int) -> dict[str, int]:
    """How many values of each reduce variable to take at once, so that the grids of both factors
    stay below `limit`."""
    lengths = {name: count for name, (_, count) in reduce.items()}
    counts = {name: count for name, (_, count) in pure.items()}
    shared = 1.0
    if c.window is not None:
        taps = lengths[c.window.reduce]
        block = min(_BLOCK, counts[c.window.pure])
        shared = block * taps / (taps + c.window.stride * block)
    for kept, mine in (
        (c.batch + c.left, c.summed + c.first_only),
        (c.batch + c.right, c.summed + c.second_only),
    ):
        free = [v for v in mine if c.window is None or v != c.window.reduce]
        while _size(kept, counts) * _size(mine, lengths) > limit * shared:
            longest = max(free, key=lambda v: lengths[v], default=None)
            if longest is None or lengths[longest] == 1:
                break
            lengths[longest] = (lengths[longest] + 1) // 2
        shared = 1.0
    return lengths


def window_pieces(c: Contraction | None, pure: Ranges) -> Iterator[Ranges]:
    """Pieces of the pure ranges; the sliding variable cut where its last whole block ends."""
    for piece in chunks(pure, CONTRACTED_POINTS):
        if c is None or c.window is None:
            yield piece
            continue
        x = c.window.pure
        start, count = piece[x]
        whole = count // _BLOCK * _BLOCK
        for cut in ((start, whole), (start + whole, count - whole)):
            if cut[1]:
                yield {**piece, x: cut}


def contract(
    program: Program, c: Contraction, reduce: Ranges, pure: Ranges, element: DType
) -> Terms | None:
    """The sums over the reduce ranges, shaped as the pure ranges. None when a factor has infinities
    or NaN (which must not meet the zeros of a Toeplitz matrix), or is an uncertain integer."""
    block = 1
    if c.window is not None:
        block = min(_BLOCK, pure[c.window.pure][1])
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
    program: Program, e: Expr, axes: dict[str, Axis], groups: tuple[tuple[str, ...], ...]
) -> _Matrix | None:
    """The factor over its grid as a batch of matrices, what only it mentions summed."""
    value = program.meaning(e)(Points(len(axes), axes, program.sizes))
    counts = {name: axis.count for name, axis in axes.items()}
    shape = tuple(_size(group, counts) for group in groups)
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
