"""Random operands of matrix products, and what their product must be."""

from __future__ import annotations

import numpy as np
from tile_kernels import Product

from hbc.ir.lang.types import DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

SIZES = {"P": 2, "Q": 1, "S": 3}


def random(shape: tuple[int, ...], t: DType, seed: int) -> Array:
    """Any integer; floats of many magnitudes and either sign."""
    rng = np.random.default_rng(seed)
    if t.is_int:
        return rng.integers(t.limits[0], t.limits[1] + 1, shape).astype(numpy_dtype(t))
    values = rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)
    return np.asarray(values.astype(np.float32).astype(numpy_dtype(t)))


def inputs(p: Product, down: int, across: int, sizes: dict[str, int] = SIZES) -> dict[str, Array]:
    depth = sizes["S"] * p.k
    a = random((sizes["P"] * down * p.m, depth), p.type(1), 1)
    b = random((depth // p.group, sizes["Q"] * across * p.n, p.group), p.type(2), 2)
    return {"A": a, "B": b}


def check(given: dict[str, Array], got: Array) -> None:
    """Against NumPy: integers modulo 2^32, floats within the error of any order of summation."""
    a, b = given["A"], given["B"].transpose(0, 2, 1)
    b = b.reshape(-1, b.shape[2])
    if got.dtype == np.int32:
        exact = a.astype(np.int64) @ b.astype(np.int64)
        assert (got == exact.astype(np.int32)).all()
        return
    x, y = a.astype(np.float64), b.astype(np.float64)
    bound = 2.0**-23 * a.shape[1] * (abs(x) @ abs(y))
    assert (abs(got - x @ y) <= bound).all()
