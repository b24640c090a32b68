"""Pins half and bfloat16 of CUDA on the CPU against NumPy: one rounding, to nearest even."""

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cuda_programs import call, library
from numpy.typing import NDArray

KERNELS = """
#define EACH for (int i = 0; i < n; i++)
""" + "".join(
    f"""
extern "C" void {name}_from_float(const float *a, {t} *o, int n) {{ EACH o[i] = {t}(a[i]); }}
extern "C" void {name}_from_double(const double *a, {t} *o, int n) {{ EACH o[i] = {t}(a[i]); }}
extern "C" void {name}_to_float(const {t} *a, float *o, int n) {{ EACH o[i] = float(a[i]); }}
extern "C" void {name}_ops(const {t} *a, const {t} *b, const {t} *c, {t} *o, int n)
{{
    for (int i = 0; i < n; i++) {{
        o[i] = a[i] + b[i];
        o[n + i] = a[i] - b[i];
        o[2 * n + i] = a[i] * b[i];
        o[3 * n + i] = a[i] / b[i];
        o[4 * n + i] = __hfma(a[i], b[i], c[i]);
    }}
}}
"""
    for name, t in (("half", "__half"), ("bfloat16", "__nv_bfloat16"))
)
TYPES = {"half": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


@pytest.fixture(scope="module")
def kernels() -> ctypes.CDLL:
    return library(KERNELS, "half_kernels")


def same(got: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Bit for bit; a NaN is a NaN."""
    nan = np.isnan(wanted.astype(np.float64))
    equal = got.view(np.uint16) == wanted.view(np.uint16)
    return bool(np.all(np.where(nan, np.isnan(got.astype(np.float64)), equal)))


@pytest.mark.parametrize("name", TYPES)
def test_every_number_widens(name: str, kernels: ctypes.CDLL) -> None:
    every = np.arange(65536, dtype=np.uint16).view(TYPES[name])
    wide = np.empty(65536, np.float32)
    call(getattr(kernels, f"{name}_to_float"), every, wide, 65536)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wanted = every.astype(np.float32)
    nan = np.isnan(wanted)
    assert np.array_equal(wide[~nan].view(np.uint32), wanted[~nan].view(np.uint32))
    assert np.isnan(wide[nan]).all()


@pytest.mark.parametrize("name", TYPES)
def test_floats_are_rounded(name: str, kernels: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    some = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    every = np.arange(65535, dtype=np.uint16).view(TYPES[name])
    with np.errstate(all="ignore"):
        low, high = every[:-1].astype(np.float64), every[1:].astype(np.float64)
        ties = ((low + high) / 2).astype(np.float32)
        given = np.concatenate([some, ties, np.nextafter(ties, np.float32(np.inf)), ties * 0.99999])
        given = given.astype(np.float32)
        wanted = given.astype(TYPES[name])
    got = np.empty(given.size, TYPES[name])
    call(getattr(kernels, f"{name}_from_float"), given, got, given.size)
    assert same(got, wanted)


@pytest.mark.parametrize("name", TYPES)
def test_doubles_are_rounded_once(name: str, kernels: ctypes.CDLL) -> None:
    """A little more than a tie goes up, where rounding to float first would lose the little."""
    every = np.arange(0x3C00, 0x4000, dtype=np.uint16).view(TYPES[name])
    low, high = every[:-1].astype(np.float64), every[1:].astype(np.float64)
    above = np.nextafter((low + high) / 2, np.inf)
    got = np.empty(above.size, TYPES[name])
    call(getattr(kernels, f"{name}_from_double"), above, got, above.size)
    assert same(got, every[1:])


@pytest.mark.parametrize("name", TYPES)
def test_operations_are_rounded_once(name: str, kernels: ctypes.CDLL) -> None:
    rng = np.random.default_rng(2)
    n = 100_000
    a, b, c = (rng.integers(0, 65536, n).astype(np.uint16).view(TYPES[name]) for _ in range(3))
    got = np.empty(5 * n, TYPES[name])
    call(getattr(kernels, f"{name}_ops"), a, b, c, got, n)
    with np.errstate(all="ignore"):
        x, y, z = (v.astype(np.longdouble) for v in (a, b, c))
        wanted = [x + y, x - y, x * y, x / y, x * y + z]
        for operation, value in enumerate(wanted):
            # 64 bits are many more than twice those of the types: rounding twice is rounding once,
            # but for a tie with something tiny added.
            once = value.astype(np.float64).astype(np.float32).astype(TYPES[name])
            sure = np.isnan(value) | (np.abs(_distance_from_tie(value, TYPES[name])) > 1e-3)
            part = got[operation * n : (operation + 1) * n]
            assert same(part[sure], once[sure])


def _distance_from_tie(value: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """In units of the last place, roughly: 0 is a tie."""
    digits = 11 if dtype == np.float16 else 8
    _, exponent = np.frexp(value.astype(np.float64))
    least = -13 if dtype == np.float16 else -125
    scaled = np.ldexp(value.astype(np.float64), digits - np.maximum(exponent, least))
    return np.asarray(scaled - np.floor(scaled) - 0.5)


def test_a_fused_product_sees_the_smallest_addend(kernels: ctypes.CDLL) -> None:
    """1.5 * (1 + 2^-10) lies in the middle between two halves: the sign of what is added decides."""
    a, b = np.full(2, 1.5, np.float16), np.full(2, 1 + 2.0**-10, np.float16)
    c = np.array([2.0**-24, -(2.0**-24)], np.float16)
    got = np.empty(10, np.float16)
    call(kernels.half_ops, a, b, c, got, 2)
    exact = 1.5 * (1 + 2.0**-10)
    assert got[8:].tolist() == [exact + 2.0**-11, exact - 2.0**-11]
