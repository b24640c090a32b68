"""Input arrays: what an example's fills say, and the values that `verify` tries."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from hbc.frontend.program.funcs import Fill
from hbc.ir.ground.diag import error
from hbc.ir.lang.types import BOOL, I64, DType
from hbc.ir.meaning.arith_cast import cast, round_to
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

Shape = tuple[int, ...]

_SPECIAL_SHARE = 1 / 8


def fill(how: Fill, element: DType, shape: Shape, read: Callable[[str], Array]) -> Array:
    """An array of `element` as the example says; the same bytes every time. `read` loads what
    `file(path)` names, and checks it. Raises HbcError for a fill that the type cannot hold."""
    with np.errstate(all="ignore"):
        match how.kind, how.args:
            case "random", (seed, *limits):
                return _random(how, element, shape, int(seed), [float(v) for v in limits])
            case "ramp", ():
                return _ramp(element, shape)
            case "constant", (value,):
                return _constant(how, float(value), element, shape)
            case "file", (path,):
                return read(str(path))
            case _:
                raise error(f"`{how.kind}` with {len(how.args)} arguments fills nothing", how.span)


def random_full_range(element: DType, shape: Shape, rng: np.random.Generator) -> Array:
    """All values of an integer type; floats of both signs with magnitudes from 1/16 to 16, so that
    no term hides behind another."""
    if element == BOOL:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if not element.is_float:
        lo, hi = element.limits
        return rng.integers(lo, hi, shape, numpy_dtype(element), endpoint=True)
    exponents = rng.integers(-4, 4, shape)
    magnitudes = np.ldexp(rng.uniform(1, 2, shape), exponents)
    return round_to(np.where(rng.random(shape) < 0.5, -magnitudes, magnitudes), element)


def special_values(element: DType, shape: Shape, rng: np.random.Generator) -> Array:
    """As `random_full_range`, with an eighth of the elements replaced by the type's extremes: NaN,
    infinities, zeros, the largest, the least normal and a subnormal; or an integer's limits."""
    values = random_full_range(element, shape, rng)
    if element == BOOL:
        return values
    extremes = _float_extremes(element) if element.is_float else _integer_extremes(element)
    chosen = extremes[rng.integers(0, len(extremes), shape)]
    return np.where(rng.random(shape) < _SPECIAL_SHARE, chosen, values).astype(values.dtype)


def _float_extremes(element: DType) -> Array:
    known = ml_dtypes.finfo(numpy_dtype(element))
    one_side = [np.inf, 0.0, known.max, known.smallest_normal, known.smallest_subnormal]
    one_side = [float(v) for v in one_side]
    return round_to(np.array([np.nan, *one_side, *(-v for v in one_side)]), element)


def _integer_extremes(element: DType) -> Array:
    lo, hi = element.limits
    return np.array([lo, hi, 0, 1, max(lo, -1)], numpy_dtype(element))


def _random(how: Fill, element: DType, shape: Shape, seed: int, limits: list[float]) -> Array:
    """Uniform in lo <= x < hi; without limits, -1 to 1 for floats and all values of integers."""
    rng = np.random.default_rng(seed)
    if not limits and not element.is_float:
        return random_full_range(element, shape, rng)
    lo, hi = limits or (-1.0, 1.0)
    if not lo < hi:
        raise error(f"`random({seed}, {lo:g}, {hi:g})` has no values", how.span)
    if element.is_float:
        return round_to(rng.uniform(lo, hi, shape), element)
    least, most = element.limits
    if lo < least or hi > most + 1:
        raise error(
            f"`random({seed}, {lo:g}, {hi:g})` leaves the range of {element}",
            how.span,
            f"{element} holds {least} to {most}",
        )
    return rng.integers(int(lo), int(hi), shape).astype(numpy_dtype(element))


def _ramp(element: DType, shape: Shape) -> Array:
    """0, 1, 2, ... in memory order, wrapping; floats divided by their number: 0 up to 1."""
    count = int(np.prod(shape))
    steps = np.arange(count, dtype=np.int64)
    if element.is_float:
        return round_to(steps / max(count, 1), element).reshape(shape)
    if element == BOOL:
        return np.asarray(steps % 2 == 1).reshape(shape)
    return cast(steps, I64, element).reshape(shape)


def _constant(how: Fill, value: float, element: DType, shape: Shape) -> Array:
    if element.is_float:
        return np.full(shape, round_to(np.asarray(value), element))
    least, most = element.limits
    if not least <= value <= most or value != int(value):
        raise error(
            f"`constant({value:g})` is no {element}", how.span, f"{element} holds {least} to {most}"
        )
    return np.full(shape, int(value), numpy_dtype(element))
