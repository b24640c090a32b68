"""Executes an instruction on NumPy arrays, from its description alone, with its true rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.instruction import Instruction, Kind, Operand, Order, Overflow, Product, Rounding
from hbc.ir.lang.types import F64, DType
from hbc.ir.meaning.arith import call
from hbc.ir.meaning.contraction import extents, refused_sizes, shape, strides
from hbc.ir.meaning.float_rounding import Arithmetic
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

SUMMED = (Kind.K, Kind.SUM)
_PRODUCTS_AT_ONCE = 1 << 18


def execute(
    i: Instruction, arrays: Mapping[str, Array], sizes: Mapping[str, int] | None = None
) -> Array:
    """What the accumulator holds afterwards; the arrays, by operand, have the operands' shapes and
    stay as they are. InternalError when sizes, shapes or types are not the instruction's."""
    sizes = sizes or {}
    refused = refused_sizes(i, sizes)
    if refused:
        raise InternalError(f"execute: {refused}")
    for n, o in enumerate(i.operands):
        x = arrays[o.name]
        if x.shape != shape(i, n, sizes) or x.dtype != numpy_dtype(o.element):
            raise InternalError(f"execute: `{o.name}` of `{i.name}` is {x.dtype}{x.shape}")
    flat = [np.ascontiguousarray(arrays[o.name]).reshape(-1) for o in i.operands]
    with np.errstate(all="ignore"):
        after = executor(i, sizes)(*flat)
    return after.reshape(arrays[i.operands[i.accumulator].name].shape)


def executor(i: Instruction, sizes: Mapping[str, int]) -> Callable[..., Array]:
    """The instruction as a function of its operands' elements, in row-major order, which have its
    types and numbers; it returns those of the accumulator. Called under `np.errstate(all="ignore")`."""
    return _executor(i, tuple(sizes.items()))


@cache
def _executor(i: Instruction, sizes: tuple[tuple[str, int], ...]) -> Callable[..., Array]:
    given = dict(sizes)
    element = i.operands[i.accumulator].element
    where, tables = _places(i, sizes)
    of_factors = list(zip(i.factors, tables, strict=True))

    plain = element.is_float and element != F64 and len(of_factors) == 2
    plain = plain and all(o.function is None for o in i.operands)

    # Where an operand begins when all are put one after the other.
    begins = np.cumsum([0, *(prod(shape(i, n, given)) for n in range(len(i.operands)))])
    (first, second) = ((at + begins[n]) for n, at in of_factors) if plain else (where, where)
    start = where + begins[i.accumulator]

    terms = of_factors[0][1].shape[1]
    in_order = np.array_equal(where, np.arange(where.size))

    def of_whole_numbers(operands: Sequence[Array]) -> Array | None:
        """As `float_sum`, at once where all numbers are whole and small, as they are in checks."""
        x = np.concatenate(operands, dtype=np.float64, casting="unsafe")
        most = np.abs(x).max()
        if not most * most * terms + most < 2.0**element.precision or (np.rint(x) != x).any():
            return None
        return np.asarray(x[start] + (x[first] * x[second]).sum(axis=1))

    def run(*operands: Array) -> Array:
        before = operands[i.accumulator]
        summed = of_whole_numbers(operands) if plain else None
        if summed is None:
            factors = [_prepared(i.operands[n], operands[n])[at] for n, at in of_factors]
            if element.is_float:
                summed = float_sum(before[where], factors, element, i.rounding)
            else:
                summed = integer_sum(before[where], factors, element, i.rounding.overflow)
        if in_order:
            return summed.astype(before.dtype, copy=False)
        after = np.empty(before.size, before.dtype)
        after[where] = summed
        return after

    return run


def summed_steps(
    i: Instruction, sizes: tuple[tuple[str, int], ...], before: Array, factors: Sequence[Array]
) -> Array | None:
    """What the accumulator holds after several executions, at which the factors are these, each
    [steps, elements]; None where their order may make a difference, or it is not known not to."""
    element = i.operands[i.accumulator].element
    if element == F64 or len(factors) != 2 or any(o.function is not None for o in i.operands):
        return None
    where, tables = _places(i, sizes)
    exact = np.dtype(np.float64 if element.is_float else np.int64)
    x, y, start = (a.astype(exact) for a in (*factors, before))
    steps, (sums, terms) = len(x), tables[0].shape
    most = float(np.abs(x).max()) * float(np.abs(y).max()) * terms * steps
    most += float(np.abs(start).max())
    if element.is_float:
        if not most < 2.0**element.precision or any((np.rint(a) != a).any() for a in (x, y, start)):
            return None
    elif i.rounding.overflow is Overflow.SATURATES and most > min(map(abs, element.limits)):
        return None
    total = start[where]
    many = max(1, _PRODUCTS_AT_ONCE // (sums * terms))
    for n in range(0, steps, many):
        products = x[n : n + many, tables[0]] * y[n : n + many, tables[1]]
        total += products.sum(axis=(0, 2))
    after = np.empty(before.size, before.dtype)
    after[where] = total.astype(before.dtype)
    return after


@cache
def _places(i: Instruction, sizes: tuple[tuple[str, int], ...]) -> tuple[Array, list[Array]]:
    """The positions of the sums, and those of each factor: [sums, terms]."""
    given = dict(sizes)
    return elements(i, given), [points(i, n, given) for n in i.factors]


def _prepared(o: Operand, x: Array) -> Array:
    """An operand's elements as they are multiplied."""
    return x if o.function is None else call(o.function, o.element, o.element)(x)


def elements(i: Instruction, sizes: Mapping[str, int]) -> Array:
    """The positions of the sums in the accumulator."""
    return np.asarray(points(i, i.accumulator, sizes)[:, 0])


def points(i: Instruction, operand: int, sizes: Mapping[str, int]) -> Array:
    """The positions at which the operand is visited: an array [sums, terms of a sum]."""
    outer, inner = np.zeros(1, np.int64), np.zeros(1, np.int64)
    moved = zip(i.rows, extents(i, sizes), strides(i, operand, sizes), strict=True)
    for row, count, stride in moved:
        steps = np.arange(count) * stride
        if row.kind in SUMMED:
            inner = (inner[:, None] + steps).reshape(-1)
        else:
            outer = (outer[:, None] + steps).reshape(-1)
    return np.asarray(outer[:, None] + inner)


def integer_sum(
    start: Array, factors: Sequence[Array], element: DType, overflow: Overflow
) -> Array:
    """start + the sum of the products along the last axis. 64 bits hold it, or it wraps anyway."""
    product = factors[0].astype(np.int64)
    for f in factors[1:]:
        product = product * f.astype(np.int64)
    total = start.astype(np.int64) + product.sum(axis=1)
    if overflow is Overflow.SATURATES:
        total = np.clip(total, *element.limits)
    return np.asarray(total.astype(numpy_dtype(element)))


def float_sum(start: Array, factors: Sequence[Array], element: DType, r: Rounding) -> Array:
    """start + the products along the last axis, in the order and with the rounding of `r`."""
    arithmetic = Arithmetic(element, r.mode, r.subnormals)
    accumulate = step_of(arithmetic, r.product)
    values = [arithmetic.operand(f) for f in factors]
    if len(values) == 1:
        values.append(np.ones_like(values[0]))
    a, b = values
    count = a.shape[1]
    result = arithmetic.operand(start)
    whole = whole_sum(result, a, b, element)
    if whole is not None:
        return np.asarray(whole.astype(numpy_dtype(element)))
    group = r.group or count
    for first in range(0, count, group):
        block = range(first, first + group)
        order = block if r.order is Order.ASCENDING else block[::-1]
        if not r.chains:
            for q in order:
                result = accumulate(a[:, q], b[:, q], result)
            continue
        partial: list[Array | None] = [None] * r.chains
        for n, q in enumerate(order):
            chain = partial[n % r.chains]
            partial[n % r.chains] = begin(a[:, q], b[:, q], chain, arithmetic, r, accumulate)
        chains = [p for p in partial if p is not None]
        total = chains[0]
        for p in chains[1:]:
            total = arithmetic.add(total, p)
        result = arithmetic.add(result, total)
    with np.errstate(invalid="ignore"):  # NaNs
        return np.asarray(result.astype(numpy_dtype(element)))


def whole_sum(start: Array, a: Array, b: Array, element: DType) -> Array | None:
    """start + the products along the last axis where these are whole numbers and so small that no
    order of summation rounds; else None."""
    if element == F64:  # of which products are not exact
        return None
    with np.errstate(all="ignore"):  # infinities and NaNs
        products = a * b
        most = np.abs(products).sum(axis=1) + np.abs(start)
        if not (most < 2.0**element.precision).all() or (products % 1).any() or (start % 1).any():
            return None
        return np.asarray(start + products.sum(axis=1))


Accumulate = Callable[[Array, Array, Array], Array]


def begin(
    a: Array, b: Array, chain: Array | None, arithmetic: Arithmetic, r: Rounding,
    accumulate: Accumulate,
) -> Array:  # fmt: skip
    """A chain with one more term."""
    if chain is not None:
        return accumulate(a, b, chain)
    if r.product is Product.ROUNDED:
        return arithmetic.multiply(a, b)
    return accumulate(a, b, np.zeros(a.shape))


def step_of(arithmetic: Arithmetic, product: Product) -> Accumulate:
    """How a product joins a sum."""
    if product is Product.FUSED:
        return arithmetic.multiply_add
    return lambda a, b, c: arithmetic.add(arithmetic.multiply(a, b), c)
