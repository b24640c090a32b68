"""The math functions: exact ones to the bit, the others within the ulps that `ir.nodes` promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lanes import Case, Read, disagreements, native_rows
from values import bit_patterns

from hbc.ir.lang.nodes import Binary, Call, Expr, MathOp, Op
from hbc.ir.lang.types import BF16, F16, F32, F64, DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

EXACT = (MathOp.SQRT, MathOp.FLOOR, MathOp.CEIL, MathOp.ROUND)
ROUNDED = (
    MathOp.EXP, MathOp.EXP2, MathOp.LOG, MathOp.RSQRT, MathOp.SIN, MathOp.COS, MathOp.TANH,
)  # fmt: skip
LIBM = 2.0  # ulps, stated in `ir.nodes`
POLYNOMIAL = 3.0  # ulps, stated in `ir.vector_math`
COUNT = 1 << 15


def function(name: MathOp, t: DType, ulps: float) -> Case:
    def value(read: Read) -> Expr:
        a = read("a", t)
        return Call(name, (a,), a.type)

    return Case(f"{name}({t})", value, ulps)


def arguments(t: DType) -> Array:
    """Any bits, moderate numbers, and the neighbourhood of the zeros of sin and cos."""
    rng = np.random.default_rng(t.bits)
    held = numpy_dtype(t)
    anything = rng.integers(0, 1 << t.bits, COUNT // 4, np.dtype(f"uint{t.bits}").type).view(held)
    moderate = rng.uniform(-30, 30, COUNT // 4)
    small = rng.uniform(-1, 1, COUNT // 4) * np.exp2(rng.integers(-20, 17, COUNT // 4))
    near = np.float64(np.pi / 2) * rng.integers(-19000, 19000, COUNT // 4)
    return np.concatenate([anything, *(x.astype(held) for x in (moderate, small, near))])


@pytest.mark.parametrize("lanes", [1, 8])
def test_functions(target: str, lanes: int, tmp_path: Path) -> None:
    """Vectors of f32 are polynomials of our own, everything else is libm's."""
    limit = LIBM if lanes == 1 or target == "c" else POLYNOMIAL
    cases = [function(name, t, 0) for name in EXACT for t in (F32, F64)]
    cases += [function(name, F32, limit) for name in ROUNDED]
    cases += [function(name, F64, LIBM) for name in ROUNDED]
    given = {f"a_{t}": arguments(t) for t in (F32, F64)}
    assert disagreements(cases, target, lanes, tmp_path, given=given) == []


def test_vectors_of_usual_numbers(target: str, tmp_path: Path) -> None:
    """Normal numbers above 0 alone: where all lanes are such, some functions need not ask further."""
    limit = LIBM if target == "c" else POLYNOMIAL
    bits = np.random.default_rng(3).integers(1 << 23, 255 << 23, COUNT, np.uint32)
    cases = [function(name, F32, limit) for name in ROUNDED]
    given = {"a_f32": bits.view(np.float32)}
    assert disagreements(cases, target, 8, tmp_path, given=given) == []


@pytest.mark.parametrize("lanes", [1, 16])
def test_functions_of_halves(target: str, lanes: int, tmp_path: Path) -> None:
    """Every value of both types: the f32 result, off by 3 of its ulps, rounds to a neighbour at
    worst."""
    cases = [function(name, t, 0) for name in EXACT for t in (F16, BF16)]
    cases += [function(name, t, 1) for name in ROUNDED for t in (F16, BF16)]
    given = {f"a_{t}": bit_patterns(t) for t in (F16, BF16)}
    assert disagreements(cases, target, lanes, tmp_path, given=given) == []


@pytest.mark.parametrize("lanes", [1, 8])
def test_products_are_fused_into_sums(vector_target: str, lanes: int, tmp_path: Path) -> None:
    """One rounding, which f64 gives too, but for a second one in one of 2^29 cases."""
    rng = np.random.default_rng(5)
    scale = np.exp2(rng.integers(-12, 1, COUNT))
    given = {f"{n}_f32": (rng.uniform(-1, 1, COUNT) * scale).astype(np.float32) for n in "abc"}
    a, b, c = (given[f"{n}_f32"].astype(np.float64) for n in "abc")
    cases = [sum_of_product(op, first) for op in (Op.ADD, Op.SUB) for first in (True, False)]
    want = [a * b + c, c + a * b, a * b - c, c - a * b]
    got, _ = native_rows(cases, vector_target, lanes, tmp_path, given=given)
    for case, x, y in zip(cases, got, want, strict=True):
        assert np.count_nonzero(x != y.astype(np.float32)) <= 1, case.name


def sum_of_product(op: Op, first: bool) -> Case:
    """`a * b op c`, or `c op a * b`."""

    def value(read: Read) -> Expr:
        product, c = Binary(Op.MUL, read("a", F32), read("b", F32)), read("c", F32)
        return Binary(op, product, c) if first else Binary(op, c, product)

    return Case(f"a * b {op} c" if first else f"c {op} a * b", value)
