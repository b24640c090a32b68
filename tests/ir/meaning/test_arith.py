"""Every operator against expectations computed another way: Python integers, fractions, tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.lang import fold
from hbc.ir.lang.nodes import COMPARISONS, Binary, Call, Cast, MathOp, Op, UnaryOp, Var
from hbc.ir.lang.operators import FIXED_POINT, has_fixed_point
from hbc.ir.lang.types import (
    BF16,
    BOOL,
    DTYPES,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    DType,
)
from hbc.ir.meaning import arith, arith_cast, arith_scalar
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import element_of, is_poison, numpy_dtype, poison

Array = np.ndarray[Any, Any]

INTEGERS = (I8, U8, I16, U16, I32, U32, I64)
FLOATS = (F8E4M3, F8E5M2, F16, BF16, F32, F64)


def edges(element: DType) -> list[int]:
    lo, hi = element.limits
    around = {lo, lo + 1, lo // 2, -2, -1, 0, 1, 2, 3, 7, 31, 32, 33, hi // 2, hi - 1, hi}
    return sorted(v for v in around if lo <= v <= hi)


def wrap(value: int, element: DType) -> int:
    lo, hi = element.limits
    return (value - lo) % (hi - lo + 1) + lo


def expected(op: Op, a: int, b: int, element: DType) -> int | bool:
    """From the words of `nodes`."""
    shift = b % element.bits
    match op:
        case Op.ADD:
            return wrap(a + b, element)
        case Op.SUB:
            return wrap(a - b, element)
        case Op.MUL:
            return wrap(a * b, element)
        case Op.DIV:
            return wrap(math.floor(Fraction(a, b)), element) if b else 0
        case Op.MOD:
            return a - b * math.floor(Fraction(a, b)) if b else 0
        case Op.MIN | Op.MAX:
            return sorted((a, b))[op is Op.MAX]
        case Op.AND:
            return a & b
        case Op.OR:
            return a | b
        case Op.XOR:
            return a ^ b
        case Op.SHL:
            return wrap(a * 2**shift, element)
        case Op.SHR:
            return math.floor(Fraction(a, 2**shift))
        case Op.MULHI:
            return math.floor(Fraction(a * b, 2**element.bits))
        case Op.MULROUND:
            return wrap(
                math.floor(Fraction(a * b, 2 ** (element.bits - 1)) + Fraction(1, 2)), element
            )
        case Op.AVG | Op.AVGUP:
            return math.floor(Fraction(a + b + (op is Op.AVGUP), 2))
        case Op.ABSD:
            return wrap(max(a, b) - min(a, b), element)
        case Op.ADDSAT | Op.SUBSAT:
            lo, hi = element.limits
            return sorted((lo, a + b if op is Op.ADDSAT else a - b, hi))[1]
        case _:
            found: bool = eval(f"{a} {op} {b}")
            return found


OPERATORS = [
    (op, t) for op in Op for t in INTEGERS if op not in FIXED_POINT or has_fixed_point(op, t)
]


@pytest.mark.parametrize(("op", "element"), OPERATORS, ids=str)
def test_integer_operators(op: Op, element: DType) -> None:
    values = edges(element)
    a, b = np.meshgrid(
        np.array(values, numpy_dtype(element)), np.array(values, numpy_dtype(element))
    )
    want = [[expected(op, x, y, element) for x in values] for y in values]
    got = arith.binary(op, element)(a, b)
    assert got.dtype == (np.bool_ if op in COMPARISONS else numpy_dtype(element))
    assert got.tolist() == want
    x = Var("x", element())
    lanes = Var("x", element(len(values))), Var("y", element(len(values)))
    for n, y in enumerate(values):
        env = {"x": values, "y": [y] * len(values)}
        assert evaluate(Binary(op, *lanes), env, {}).tolist() == want[n]
        scalar = Binary(op, x, Var("y", element()))
        for m, one in enumerate(values):
            assert evaluate(scalar, {"x": one, "y": y}, {}).tolist() == [want[n][m]]


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_integer_unary(element: DType) -> None:
    values = edges(element)
    array = np.array(values, numpy_dtype(element))
    for op, meaning in (
        (UnaryOp.NEG, lambda v: -v),
        (UnaryOp.ABS, abs),
        (UnaryOp.NOT, lambda v: ~v),
    ):
        want = [wrap(meaning(v), element) for v in values]
        assert arith.unary(op, element)(array).tolist() == want
        assert [arith_scalar.unary(op, element)(v) for v in values] == want


def test_bools() -> None:
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    table = {
        Op.AND: [0, 0, 0, 1], Op.OR: [0, 1, 1, 1], Op.XOR: [0, 1, 1, 0],
        Op.EQ: [1, 0, 0, 1], Op.NE: [0, 1, 1, 0], Op.MIN: [0, 0, 0, 1], Op.MAX: [0, 1, 1, 1],
    }  # fmt: skip
    for op, want in table.items():
        assert arith.binary(op, BOOL)(a, b).tolist() == [bool(v) for v in want]
    assert arith.unary(UnaryOp.NOT, BOOL)(a).tolist() == [True, True, False, False]
    assert arith_scalar.unary(UnaryOp.NOT, BOOL)(True) is False


@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("target", [*INTEGERS, BOOL], ids=str)
def test_integer_casts_wrap(source: DType, target: DType) -> None:
    values = edges(source)
    want = [bool(v) if target == BOOL else wrap(v, target) for v in values]
    array = np.array(values, numpy_dtype(source))
    assert arith_cast.cast(array, source, target).tolist() == want
    assert [arith_scalar.cast(source, target)(v) for v in values] == want


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_float_to_integer_truncates_and_saturates(source: DType, target: DType) -> None:
    lo, hi = target.limits
    wanted = [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 2.5, 127.9, 255.9, 3e4, -3e4, 6e4]
    wanted += [2.0**31, 2.0**63, -(2.0**63), 2.0**70, -(2.0**70), np.inf, -np.inf, np.nan]
    with np.errstate(all="ignore"):
        array = arith_cast.round_to(np.array(wanted), source)
        got = arith_cast.cast(array, source, target)
        scalars = [arith_scalar.cast(source, target)(v) for v in array]
    values = [float(v) for v in array]
    want = [0 if math.isnan(v) else hi if v > hi else lo if v < lo else int(v) for v in values]
    assert got.dtype == numpy_dtype(target) and got.tolist() == want
    assert scalars == want


def nearest(value: Fraction, element: DType) -> float:
    """The nearest number of the type, ties to even, infinite (f8e4m3: NaN) beyond the range."""
    if value == 0:
        return 0.0
    least = {F8E4M3: -9, F8E5M2: -16, F16: -24, BF16: -133, F32: -149, F64: -1074}[element]
    high = Fraction(2) ** {F8E5M2: 16, F16: 16, F64: 1024}.get(element, 128)
    if element == F8E4M3:
        high = Fraction(480)
    exponent = max(math.frexp(abs(value))[1] - element.precision, least)
    unit = Fraction(2) ** exponent
    rounded = round(value / unit) * unit
    if abs(rounded) >= high:
        return math.nan if element == F8E4M3 else math.inf if value > 0 else -math.inf
    return float(rounded)


halfway = st.builds(
    lambda k, e, d, s: s * math.ldexp(k + 0.5 + d, e),
    st.integers(64, 4096), st.integers(-160, 120), st.sampled_from([0, 2**-30, -(2**-30)]),
    st.sampled_from([1, -1]),
)  # fmt: skip


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), halfway))
def test_floats_round_once(value: float) -> None:
    for element in FLOATS:
        want = nearest(Fraction(value), element)
        with np.errstate(all="ignore"):
            got = arith_cast.cast(np.array([value]), F64, element)
            scalar = arith_scalar.cast(F64, element)(np.float64(value))
        assert got.dtype == numpy_dtype(element)
        assert np.array_equal([float(got[0]), float(scalar)], [want, want], equal_nan=True)
        folded = fold.round_to(value, element)
        # Of bf16 it rounds to f32 first.
        assert element == BF16 or np.array_equal([folded], [want], equal_nan=True)


@given(st.one_of(st.integers(*I64.limits), st.builds(lambda k, e, d: (2 * k + 1) * 2**e + d,
    st.integers(0, 255), st.integers(0, 54), st.integers(-1, 1))))  # fmt: skip
def test_integers_round_once(value: int) -> None:
    for element in FLOATS:
        with np.errstate(all="ignore"):
            got = arith_cast.cast(np.array([value]), I64, element)
        want = nearest(Fraction(value), element)
        assert np.array_equal([float(got[0])], [want], equal_nan=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("op", [Op.ADD, Op.SUB, Op.MUL, Op.DIV])
def test_float_arithmetic_rounds_every_operation(op: Op, element: DType) -> None:
    rng = np.random.default_rng(5)
    a, b = (arith_cast.round_to(rng.standard_normal(300) * 2.0**k, element) for k in (0, 3))
    exact = {Op.ADD: lambda x, y: x + y, Op.SUB: lambda x, y: x - y}
    exact |= {Op.MUL: lambda x, y: x * y, Op.DIV: lambda x, y: x / y}
    want = [
        nearest(exact[op](Fraction(float(x)), Fraction(float(y))), element)
        for x, y in zip(a, b, strict=True)
    ]
    got = arith.binary(op, element)(a, b)
    assert got.dtype == numpy_dtype(element)
    assert np.array_equal([float(v) for v in got], want, equal_nan=True)
    names = Binary(op, Var("x", element()), Var("y", element()))
    for x, y, z in zip(a[:40], b[:40], want[:40], strict=True):
        one = float(evaluate(names, {"x": x, "y": y}, {})[0])
        assert np.array_equal([one], [z], equal_nan=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_nan_spreads_through_min_and_max(element: DType) -> None:
    nan, inf = math.nan, element.ends[1]
    a = np.array([1, nan, 2, nan, inf, -inf], numpy_dtype(element))
    b = np.array([2, 1, nan, nan, 1, 1], numpy_dtype(element))
    for op, want in ((Op.MIN, [1, nan, nan, nan, 1, -inf]), (Op.MAX, [2, nan, nan, nan, inf, 1])):
        with np.errstate(all="ignore"):
            got = arith.binary(op, element)(a, b)
        assert np.array_equal(got.astype(float), want, equal_nan=True)
        scalar = Binary(op, Var("x", element()), Var("y", element()))
        for x, y, z in zip(a, b, want, strict=True):
            one = evaluate(scalar, {"x": x, "y": y}, {}).astype(float)
            assert np.array_equal(one, [z], equal_nan=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_rounding_functions(element: DType) -> None:
    values = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.25, -0.75], numpy_dtype(element))
    table = {
        MathOp.ROUND: [-2, -2, -0.0, 0, 2, 2, 0, -1],
        MathOp.FLOOR: [-3, -2, -1, 0, 1, 2, 0, -1],
        MathOp.CEIL: [-2, -1, -0.0, 1, 2, 3, 1, -0.0],
    }
    for name, want in table.items():
        got = arith.call(name, element, element)(values)
        assert got.dtype == values.dtype
        assert got.astype(float).tolist() == want


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cos", "tanh", "sqrt", "rsqrt"])
def test_math_functions(name: str, element: DType) -> None:
    values = arith_cast.round_to(np.linspace(0.1, 6, 100), element)
    meaning = {"rsqrt": lambda v: 1 / math.sqrt(v)}.get(name) or getattr(math, name)
    want = np.array([meaning(float(v)) for v in values])
    got = arith.call(MathOp(name), element, element)(values)
    assert got.dtype == values.dtype
    assert (np.abs(got.astype(float) - want) <= 2.0**-element.precision * 2 * np.abs(want)).all()
    one = Call(MathOp(name), (Var("x", element()),), element())
    assert evaluate(one, {"x": values[3]}, {}).tolist() == [got[3]]


def test_reinterpret_keeps_bits() -> None:
    for one, other in (
        (F32, I32),
        (F32, U32),
        (F64, I64),
        (F16, U16),
        (BF16, I16),
        (F8E4M3, U8),
        (F8E5M2, I8),
    ):
        values = poison(one, 3)
        bits = arith.call(MathOp.REINTERPRET, one, other)(values)
        assert bits.dtype == numpy_dtype(other)
        back = arith.call(MathOp.REINTERPRET, other, one)(bits)
        assert back.tobytes() == values.tobytes()
        scalar = Call(MathOp.REINTERPRET, (Var("x", other()),), one())
        assert evaluate(scalar, {"x": bits[0]}, {}).tobytes() == values[:1].tobytes()


@pytest.mark.parametrize("element", DTYPES.values(), ids=str)
def test_dtypes_and_poison(element: DType) -> None:
    assert element_of(numpy_dtype(element)) == element
    assert numpy_dtype(element).itemsize == element.bytes
    fresh = poison(element, 100)
    assert fresh.dtype == numpy_dtype(element) and len(fresh) == 100
    if element.is_float:
        assert np.isnan(fresh.astype(float)).all() and is_poison(fresh, element).all()
        assert not is_poison(np.full(2, np.nan, numpy_dtype(element)), element).any()


def test_vector_casts_in_expressions() -> None:
    lanes = Var("x", F64(3))
    env = {"x": [1 + 2**-8 + 2**-40, 300.7, math.nan]}
    assert evaluate(Cast(BF16(3), lanes), env, {})[0] == 1 + 2**-7
    assert evaluate(Cast(U8(3), lanes), env, {}).tolist() == [1, 255, 0]
