"""Fills of examples and the random values of `verify`."""

from __future__ import annotations

import numpy as np
import pytest
from full_range import fill, random_full_range, special_values

from hbc.frontend.program.funcs import Fill
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.types import BF16, BOOL, DTYPES, F16, F32, I8, I32, U8, DType
from hbc.ir.meaning.float_rounding import LEAST_EXPONENT
from hbc.ir.meaning.numpy_types import Array, numpy_dtype


def never(path: str) -> Array:
    raise AssertionError(path)


def filled(kind: str, element: DType, *args: int | float | str) -> Array:
    return fill(Fill(kind, args), element, (40, 50), never)


@pytest.mark.parametrize("element", DTYPES.values(), ids=str)
def test_fills_have_the_type_and_repeat(element: DType) -> None:
    for kind, args in (("random", (1,)), ("ramp", ()), ("constant", (1,)), ("random", (7, 0, 2))):
        one, two = filled(kind, element, *args), filled(kind, element, *args)
        assert one.dtype == numpy_dtype(element) and one.shape == (40, 50)
        assert one.tobytes() == two.tobytes()
    assert filled("random", element, 1).tobytes() != filled("random", element, 2).tobytes()


def test_random_ranges() -> None:
    floats = filled("random", F32, 1)
    assert -1 <= floats.min() < -0.9 and 0.9 < floats.max() < 1
    assert {filled("random", I8, 1).min(), filled("random", I8, 1).max()} == {-128, 127}
    assert sorted(set(filled("random", U8, 1, 3, 7).ravel().tolist())) == [3, 4, 5, 6]
    assert filled("random", U8, 1, 0, 256).max() == 255


def test_ramps_and_constants() -> None:
    assert filled("ramp", I32).ravel().tolist() == list(range(2000))
    assert filled("ramp", U8).ravel()[300] == 300 - 256
    assert filled("ramp", F16).max() <= 1
    assert (filled("constant", BF16, 0.5) == 0.5).all()


def test_files_are_read_by_the_caller() -> None:
    given = np.ones(3, np.float32)
    assert fill(Fill("file", ("a.npy",)), F32, (3,), lambda path: given) is given


@pytest.mark.parametrize(
    ("kind", "args", "message"),
    [
        ("random", (1, 5, 5), r"`random\(1, 5, 5\)` has no values"),
        ("random", (1, -1, 5), r"leaves the range of u8"),
        ("constant", (256,), "`constant.256.` is no u8"),
        ("constant", (0.5,), "`constant.0.5.` is no u8"),
        ("noise", (), "`noise` with 0 arguments"),
    ],
)
def test_impossible_fills(kind: str, args: tuple[float, ...], message: str) -> None:
    with pytest.raises(HbcError, match=message):
        filled(kind, U8, *args)


@pytest.mark.parametrize("element", DTYPES.values(), ids=str)
def test_trial_values(element: DType) -> None:
    values = random_full_range(element, (4000,), np.random.default_rng(1))
    assert values.dtype == numpy_dtype(element)
    if element.is_float:
        magnitudes = np.abs(values.astype(float))
        assert 1 / 16 <= magnitudes.min() < 0.07 and 15 < magnitudes.max() <= 16
        assert 0.4 < np.mean(values.astype(float) < 0) < 0.6
    special = special_values(element, (4000,), np.random.default_rng(1)).astype(np.longdouble)
    if element.is_float:
        assert np.isnan(special).any()
        signs = np.isposinf(special).any(), np.isneginf(special).any()
        assert signs == (element.has_infinity, element.has_infinity)
        assert (special == 0).any() and np.isfinite(special).sum() > 3000
        least = 2.0 ** (LEAST_EXPONENT[element.name] + 1 - element.precision)
        assert np.nanmin(np.abs(special[special != 0])) == least
    elif element != BOOL:
        assert special.max() == element.limits[1] and special.min() == element.limits[0]
