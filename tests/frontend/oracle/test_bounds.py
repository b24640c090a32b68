"""Error bounds: every legal way to compute lies within, typical mistakes lie outside."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from naive import pipeline

from hbc.frontend.oracle import oracle
from hbc.ir.lang.types import F16, I32

Array = np.ndarray[Any, Any]
BF16 = ml_dtypes.bfloat16

DOT = """
    size R, K
    input A: f32[R, K]
    input B: f32[R, K]
    output C: f32[R]
    reduce k in K
    C[r] = 0
    C[r] += A[r, k] * B[r, k]
"""
GEMM = """
    size M, N, K
    input A: {T}[M, K]
    input B: {T}[K, N]
    output C: f32[M, N]
    reduce k in K
    C[i, j] = 0
    C[i, j] += f32(A[i, k]) * f32(B[k, j])
"""


def uniform(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once, to f32."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


@pytest.mark.parametrize("k", [1, 2, 3, 17, 300])
@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize("fma", [False, True])
def test_every_order_of_a_sum_is_within(k: int, lanes: int, fma: bool) -> None:
    a, b = uniform(1, 64, k), uniform(2, 64, k)
    a[:20] = np.abs(a[:20])
    b[:10] = np.abs(b[:10])
    reference = oracle.evaluate(pipeline(DOT), {"R": 64, "K": k}, {"A": a, "B": b})["C"]
    rng = np.random.default_rng(3)
    for _ in range(5):
        order = rng.permutation(k)
        sums = np.zeros((64, lanes), np.float32)
        for n, at in enumerate(order):
            lane = sums[:, n % lanes]
            product = a[:, at], b[:, at]
            sums[:, n % lanes] = fused(*product, lane) if fma else lane + product[0] * product[1]
        total = sums[:, 0]
        for lane in range(1, lanes):
            total = total + sums[:, lane]
        assert oracle.compare(total, reference).ok


@pytest.mark.parametrize(
    "spelt", ["A[r, k] * B[r, k] + D[r, k] * E[r, k]", "two[r, k] + D[r, k] * E[r, k]"]
)
def test_products_of_a_term_are_added_one_by_one(spelt: str) -> None:
    """They nearly cancel: added up first, their roundings were far smaller than those of the sum."""
    text = DOT.replace("A[r, k] * B[r, k]", spelt)
    text = text.replace("output", "input D: f32[R, K]\ninput E: f32[R, K]\noutput").replace(
        "reduce k", "two[r, k] = A[r, k] * B[r, k]\nreduce k"
    )
    a, b = uniform(1, 64, 50), uniform(2, 64, 50) + 3
    d, e = -a, b + uniform(3, 64, 50) / 1000
    given = {"A": a, "B": b, "D": d, "E": e}
    reference = oracle.evaluate(pipeline(text), {"R": 64, "K": 50}, given)["C"]
    total = np.zeros(64, np.float32)
    for x, y in ((a, b), (d, e)):
        for k in range(50):
            total = fused(x[:, k], y[:, k], total)
    assert oracle.compare(total, reference).ok
    off = total + np.float32(1e-3)
    assert oracle.compare(off, reference).mismatches == 64


def test_one_term_is_nearly_exact() -> None:
    a, b = uniform(1, 64, 1), uniform(2, 64, 1)
    reference = oracle.evaluate(pipeline(DOT), {"R": 64, "K": 1}, {"A": a, "B": b})["C"]
    got = a[:, 0] * b[:, 0]
    assert oracle.compare(got, reference).ok
    assert not oracle.compare(np.nextafter(got, np.float32(2)), reference).ok


@pytest.mark.parametrize("n", [33, 256])
def test_wrong_products_are_found(n: int) -> None:
    a, b = uniform(1, n, n), uniform(2, n, n)
    p = pipeline(GEMM.format(T="f32"))
    reference = oracle.evaluate(p, {"M": n, "N": n, "K": n}, {"A": a, "B": b})["C"]
    right = a @ b
    assert oracle.compare(right, reference).max_error_over_bound < 0.5
    dropped = right - a[:, 5:6] * b[5:6]
    assert oracle.compare(dropped, reference).mismatches > 0.95 * n * n
    neighbour = right - a[:, 5:6] * b[5:6] + a[:, 5:6] * b[6:7]
    assert oracle.compare(neighbour, reference).mismatches > 0.95 * n * n
    rounded = a.astype(BF16).astype(np.float32) @ b.astype(BF16).astype(np.float32)
    assert oracle.compare(rounded, reference).mismatches > 0.2 * n * n
    narrow = np.zeros((n, n), BF16)
    for k in range(n):
        narrow = narrow + (a[:, k : k + 1] * b[k : k + 1]).astype(BF16)
    assert oracle.compare(narrow.astype(np.float32), reference).mismatches > 0.9 * n * n


def test_products_of_bf16_are_exact_in_f32() -> None:
    """So the bound of one product is zero, and of two sums half of what f32 operands need."""
    sizes = {"M": 16, "N": 16, "K": 1}
    wide = uniform(1, 16, 1), uniform(2, 1, 16)
    narrow = tuple(x.astype(BF16) for x in wide)
    p = pipeline(GEMM.format(T="bf16"))
    reference = oracle.evaluate(p, sizes, {"A": narrow[0], "B": narrow[1]})["C"]
    assert not reference.bound.any()
    p = pipeline(GEMM.format(T="f32"))
    assert oracle.evaluate(p, sizes, {"A": wide[0], "B": wide[1]})["C"].bound.any()


def test_a_convolution_by_matrix_product_equals_the_one_by_taps() -> None:
    text = """
        size H, W
        input I: f32[H + 6, 2 * W + 8]
        input K: f32[7, 9]
        output O: f32[H, W]
        reduce s in 7, r in 9
        O[y, x] = 0
        O[y, x] += I[y + s, 2 * x + r] * K[s, r]{where}
    """
    sizes = {"H": 40, "W": 150}
    inputs = {"I": uniform(1, 46, 308), "K": uniform(2, 7, 9)}
    by_matrix = oracle.evaluate(pipeline(text.format(where="")), sizes, inputs)["O"]
    by_taps = oracle.evaluate(pipeline(text.format(where=" where s >= 0")), sizes, inputs)["O"]
    assert np.allclose(by_matrix.exact, by_taps.exact, rtol=0, atol=1e-13)
    assert np.allclose(by_matrix.bound, by_taps.bound, rtol=0.1, atol=0)
    inputs["I"][3, 5] = np.nan
    inputs["I"][20, 50] = np.inf
    special = oracle.evaluate(pipeline(text.format(where="")), sizes, inputs)["O"]
    assert np.isnan(special.exact).sum() == 4 * 3
    assert np.isinf(special.exact).sum() == 7 * 5
    clean = np.isfinite(special.exact)
    assert np.array_equal(special.exact[clean].astype(np.float32), by_taps.value[clean])


def one(text: str, x: Array, output: str = "f32") -> oracle.Reference:
    element = {"float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16"}
    p = pipeline(f"size N\ninput x: {element[x.dtype.name]}[N]\noutput y: {output}[N]\n{text}\n")
    return oracle.evaluate(p, {"N": len(x)}, {"x": x})["y"]


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cos", "tanh", "sqrt", "rsqrt"])
def test_math_functions_may_be_a_few_ulps_off(name: str) -> None:
    x = np.abs(uniform(1, 500)) * 8 + np.float32(0.01)
    reference = one(f"y[i] = {name}(x[i])", x)
    numpy_name = {"rsqrt": lambda v: 1 / np.sqrt(v)}.get(name) or getattr(np, name)
    right = numpy_name(x.astype(np.float64)).astype(np.float32)
    assert oracle.compare(right, reference).ok
    if name == "sqrt":
        assert not reference.bound.any()
        return
    near = right * np.float32(1 + 2.0**-23)
    assert oracle.compare(near, reference).ok
    far = right * np.float32(1 + 2.0**-19)
    assert oracle.compare(far, reference).mismatches > 490


def test_narrow_rounding_is_a_single_value_nearly_everywhere() -> None:
    x = uniform(1, 4000)
    reference = one("y[i] = bf16(x[i] * 0.3 + x[i] * x[i])", x, "bf16")
    third = np.float32(0.3)
    assert np.count_nonzero(reference.bound) < 10
    assert oracle.compare((x * third + x * x).astype(BF16), reference).ok
    assert oracle.compare(fused(x, x, x * third).astype(BF16), reference).ok
    coarse = (x.astype(BF16) * BF16(0.3) + x.astype(BF16) * x.astype(BF16)).astype(BF16)
    assert oracle.compare(coarse, reference).mismatches > 500


def test_uncertain_comparisons_take_either_branch() -> None:
    x = np.array([0.1, 0.2, 0.3, 0.7], np.float32)
    reference = one("y[i] = select(x[i] * x[i] - x[i] * x[i] >= 0, 1, -1)", x)
    assert (reference.bound[:4] >= 2).all()
    sure = one("y[i] = select(x[i] * x[i] >= 0.1, 1, -1)", x)
    assert not sure.bound.any()
    assert sure.value.tolist() == [-1, -1, -1, 1]


def test_uncertain_integers_widen_where_they_may_differ() -> None:
    x = np.array([0.25, 1 / 3, 2.6, 300, -4, np.nan], np.float32)
    reference = one("y[i] = u8(x[i] * 3)", x, "u8")
    assert reference.value.tolist()[2:] == [7, 255, 0, 0]
    assert reference.bound.tolist()[2:] == [0, 0, 0, 0]
    assert oracle.compare(np.array([0, 1, 7, 255, 0, 0], np.uint8), reference).ok
    assert not oracle.compare(np.array([1, 1, 7, 255, 0, 0], np.uint8), reference).ok


def test_special_values_keep_their_places() -> None:
    inf, nan = np.inf, np.nan
    x = np.array([nan, inf, -inf, 0.0, -0.0, 3e38, 1e-40, 1.0], np.float32)
    reference = one("y[i] = x[i] * 4 + 1", x)
    with np.errstate(all="ignore"):
        got, roots = x * 4 + 1, np.minimum(x, 0) + np.sqrt(x)
    assert oracle.compare(got, reference).ok
    assert np.isinf(reference.exact[5])
    for at in (0, 1, 5):
        wrong = got.copy()
        wrong[at] = 1
        assert not oracle.compare(wrong, reference).ok
    reference = one("y[i] = min(x[i], 0) + sqrt(x[i])", x)
    assert oracle.compare(roots, reference).ok


def test_products_that_a_fused_addition_brings_back_are_uncertain() -> None:
    x = np.array([3e38, 1.0], np.float32)
    reference = one("y[i] = x[i] * 2 - x[i]", x)
    assert oracle.compare(np.array([np.inf, 1], np.float32), reference).ok
    assert oracle.compare(np.array([3e38, 1], np.float32), reference).ok


def test_sums_that_may_overflow_on_the_way_are_uncertain() -> None:
    p = pipeline(DOT)
    a = np.array([[3e38, 3e38, -3e38], [3e38, 3e38, 3e38], [1, 2, 3]], np.float32)
    b = np.ones((3, 3), np.float32)
    reference = oracle.evaluate(p, {"R": 3, "K": 3}, {"A": a, "B": b})["C"]
    assert np.isinf(reference.bound[0])
    assert np.isinf(reference.exact[1]) and reference.bound[1] == 0
    assert reference.bound[2] < 1e-5


def test_stable_filters_have_small_bounds() -> None:
    p = pipeline("""
        size N
        input x: f32[N]
        output y: f32[N]
        reduce t in 2 .. N
        y[i] = x[i]
        y[t] = x[t] + 1.8 * y[t - 1] - 0.9 * y[t - 2]
    """)
    x = uniform(1, 3000)
    reference = oracle.evaluate(p, {"N": 3000}, {"x": x})["y"]
    assert reference.bound.max() < 1e-3
    a, b = np.float32(1.8), np.float32(0.9)
    plain, other = x.copy(), x.copy()
    for t in range(2, 3000):
        plain[t] = x[t] + a * plain[t - 1] - b * plain[t - 2]
        other[t] = fused(a, other[t - 1], fused(-b, other[t - 2], x[t]))
    assert oracle.compare(plain, reference).ok and oracle.compare(other, reference).ok
    late = plain.copy()
    late[1:] = plain[:-1]
    assert oracle.compare(late, reference).mismatches > 2900


def test_comparison_names_the_first_mismatch() -> None:
    reference = oracle.Reference(I32, np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros((2, 3)))
    assert oracle.compare(reference.exact, reference) == oracle.Comparison(True, 0.0, 0)
    wrong = reference.exact.copy()
    wrong[1, 1:] = 9
    found = oracle.compare(wrong, reference)
    assert (found.ok, found.mismatches, found.first) == (False, 2, (1, 1))
    assert (found.got, found.want, found.max_error_over_bound) == (9, 4, np.inf)
    with pytest.raises(ValueError, match="compared float64"):
        oracle.compare(wrong.astype(float), reference)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_order_of_a_product_of_doubles_is_within(k: int) -> None:
    """Folded along an axis, and scattered."""
    text = """
        size N, K
        input s: f64[N]
        input x: f64[N, K]
        output folded: f64[N]
        output scattered: f64[N]
        reduce k in K
        reduce n in N
        folded[i] = s[i]
        folded[i] *= x[i, k]
        scattered[i] = s[i]
        scattered[n + 0 * k] *= x[n, k]
    """
    rng = np.random.default_rng(5)
    factors = rng.uniform(0.5, 2, (1000, 1 + k))
    inputs = {"s": factors[:, 0].copy(), "x": factors[:, 1:].copy()}
    for name, reference in oracle.evaluate(pipeline(text), {"N": 1000, "K": k}, inputs).items():
        for order in itertools.permutations(range(1 + k)):
            got = np.prod(factors[:, order], axis=1)
            assert oracle.compare(got, reference).ok, name
            assert oracle.compare(got * (1 + 2.0**-49), reference).mismatches == 1000, name


def test_tensor_cores_do_not_round_products_to_half_floats() -> None:
    """A sum of two products of f16, as instructions add it up that round sums alone."""
    text = GEMM.replace("output C: f32", "output C: f16").format(T="f16")
    p = pipeline(text.replace("f32(A[i, k]) * f32(B[k, j])", "A[i, k] * B[k, j]"))
    a, b = (uniform(n, 40, 40).astype(np.float16) for n in (1, 2))
    given, sizes = {"A": a[:, :2], "B": b[:2]}, {"M": 40, "N": 40, "K": 2}
    total = (a[:, :1].astype(np.float64) * b[:1]).astype(np.float16)
    total = (a[:, 1:2].astype(np.float64) * b[1:2] + total).astype(np.float16)
    assert not oracle.compare(total, oracle.evaluate(p, sizes, given)["C"]).ok
    fused = oracle.evaluate(p, sizes, given, {F16})["C"]
    assert oracle.compare(total, fused).ok
    wrong = total + (a[:, :1] * b[:1] * np.float16(0.02)).astype(np.float16)
    assert oracle.compare(wrong, fused).mismatches > 400


def test_an_overflowing_product_may_be_fused_with_an_infinity() -> None:
    """a * b - inf is NaN where a * b is rounded first, and -inf where it is not."""
    inputs = "".join(f"input {name}: f32[N]\n" for name in "ABC")
    text = f"size N\n{inputs}output O: f32[N]\nO[i] = A[i] * B[i] - C[i]\n"
    big, infinity = np.float32(1e30), np.float32(np.inf)
    a = np.array([big, big, -big, 1], np.float32)
    b = np.array([big, big, big, infinity], np.float32)
    c = np.array([infinity, -infinity, -infinity, 2], np.float32)
    got = oracle.evaluate(pipeline(text), {"N": 4}, {"A": a, "B": b, "C": c})["O"]
    assert np.isinf(got.bound[[0, 2]]).all()  # anything
    assert (got.exact[[1, 3]] == infinity).all() and (got.bound[[1, 3]] == 0).all()
