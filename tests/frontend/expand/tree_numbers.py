"""Numbers as docs/language.md has them: NumPy scalars with a type, Python's where they are literals.

For types alone, `Typed` stands for a value of a type. BEYOND is what an input has outside of its extents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Number = Any  # a NumPy scalar, an int, float or bool, End, Typed or BEYOND
BEYOND = object()
KINDS: dict[str, Any] = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "bool": np.bool_,
}  # fmt: skip
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}
BITS = {name: 8 * np.dtype(kind).itemsize for name, kind in KINDS.items()}
FLOATS = {"f8e4m3": -1, "f8e5m2": -1, "f16": 0, "bf16": 0, "f32": 1, "f64": 2}
EXACT: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
OF_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "min": np.minimum,
    "max": np.maximum,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "floor": np.floor, "ceil": np.ceil, "round": np.rint,
}  # fmt: skip


@dataclass(frozen=True)
class End:
    """`lowest` or `highest`: the end of whatever type it meets."""

    high: bool


@dataclass(frozen=True)
class Typed:
    """Some value of a type."""

    name: str


def type_of(x: Number) -> str | None:
    """The name of the type; None for literals."""
    if isinstance(x, Typed):
        return x.name
    return NAMES[x.dtype] if isinstance(x, np.generic) else None


def least_and_greatest(name: str) -> tuple[int, int]:
    bits = BITS[name]
    return (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def cast(x: Number, name: str) -> Number:
    """The value as one of the type: low bits of integers, floats cut off and kept within its ends."""
    if x is BEYOND:
        return BEYOND
    if isinstance(x, Typed):
        return Typed(name)
    whole = name != "bool" and name not in FLOATS
    if isinstance(x, End):
        most = 448.0 if name == "f8e4m3" else math.inf
        ends: tuple[Any, Any] = least_and_greatest(name) if whole else (-most, most)
        return KINDS[name](ends[x.high])
    if not whole:
        return KINDS[name](x != 0) if name == "bool" else np.asarray(x).astype(KINDS[name])[()]
    low, high = least_and_greatest(name)
    if type_of(x) in FLOATS or isinstance(x, float):
        if math.isnan(x):
            return KINDS[name](0)
        x = float(x)  # int() of scalars of ml_dtypes goes through 64 bits
        cut = (high if x > 0 else low) if math.isinf(x) else int(x)
        return KINDS[name](min(max(cut, low), high))
    cut = int(x) & (1 << BITS[name]) - 1
    return KINDS[name](cut - (1 << BITS[name]) if cut > high else cut)


def common(s: str | None, t: str | None) -> str | None:
    """The type in which two operands meet; None where both are literals."""
    if s is None or t is None or s == t:
        return s or t
    if s in FLOATS:
        assert t in FLOATS and FLOATS[s] != FLOATS[t], (s, t)
        return s if FLOATS[s] > FLOATS[t] else t
    small, large = sorted((s, t), key=lambda name: BITS[name])
    assert BITS[small] < BITS[large] and (small[0] == large[0] or small[0] == "u"), (s, t)
    return large


def met(a: Number, b: Number) -> tuple[Number, Number, str | None]:
    """Both in the type in which they meet."""
    t = common(type_of(a), type_of(b))
    return (a, b, None) if t is None else (cast(a, t), cast(b, t), t)


def binary(op: str, a: Number, b: Number) -> Number:
    """`a op b`, also `min` and `max`."""
    if a is BEYOND or b is BEYOND:
        return BEYOND
    if op == "**":
        return power(a, b)
    a, b, t = met(a, b)
    if isinstance(a, Typed) or isinstance(b, Typed):
        return Typed("bool") if op in COMPARE or op in ("and", "or") else Typed(str(t))
    if op in ("and", "or"):
        return np.bool_(bool(a) and bool(b) if op == "and" else bool(a) or bool(b))
    if op in COMPARE:
        return np.bool_(COMPARE[op](a, b))
    if t is None and not (isinstance(a, float) or isinstance(b, float)):
        return _whole(op, int(a), int(b), 64)
    if t is not None and t not in FLOATS:
        found = _whole(op, int(a), int(b), BITS[t])
        return np.bool_(found) if t == "bool" else cast(found, t)
    if op == "%":
        times = _rounded(np.floor(binary("/", a, b)), t)
        return binary("-", a, binary("*", times, b))
    return _rounded(OF_FLOATS[op](np.float64(a) if t is None else a, b), t)


def _whole(op: str, a: int, b: int, bits: int) -> int:
    if op == "<<":
        return a << b % bits
    return a >> b % bits if op == ">>" else EXACT[op](a, b)


def _rounded(x: Any, t: str | None) -> Number:
    return float(x) if t is None else KINDS[t](x)


def power(a: Number, b: Number) -> Number:
    """By products where the exponent is a whole literal, in the order that the language gives them."""
    if isinstance(a, Typed) and isinstance(b, Typed):
        return a
    whole = not isinstance(b, Typed) and float(b).is_integer()
    if whole and (type_of(b) not in FLOATS or type_of(a) in FLOATS):
        product: Number = _by_squares(a, abs(int(b))) if b else 1
        product = cast(product, str(type_of(a))) if type_of(a) else product
        return binary("/", 1.0, product) if b < 0 else product
    a, b, t = met(a, b)
    if isinstance(a, Typed):
        return a
    if a < 0 and np.floor(b) != b:
        return _rounded(math.nan, t)
    return _rounded(np.power(np.float64(a + 0), np.float64(b)), t)


def _by_squares(x: Number, n: int) -> Number:
    if n == 1:
        return x
    half = _by_squares(binary("*", x, x), n // 2)
    return binary("*", half, x) if n % 2 else half


def unary(op: str, a: Number) -> Number:
    """`-a`, `~a`, `not a`, and `abs`."""
    if a is BEYOND or isinstance(a, Typed):
        return a
    if isinstance(a, End):
        return End(not a.high)
    if op == "not":
        return np.bool_(not a)
    t = type_of(a)
    if t is None or t in FLOATS:
        return {"-": lambda: -a, "~": lambda: ~a, "abs": lambda: abs(a)}[op]()
    return cast({"-": -int(a), "~": ~int(a), "abs": abs(int(a))}[op], t)


def select(c: Number, a: Number, b: Number) -> Number:
    a_, b_, _ = (a, b, None) if a is BEYOND or b is BEYOND else met(a, b)
    if c is BEYOND:
        return BEYOND
    return a_ if isinstance(c, Typed) or c else b_


def function(name: str, a: Number) -> Number:
    """A function of floats, rounded once."""
    if a is BEYOND or isinstance(a, Typed):
        return a
    return _rounded(FUNCTIONS[name](np.float64(a)), type_of(a))


def of_4_bits(held: Any, kind: str, count: int) -> Any:
    """Rows of so many integers out of bytes, the low 4 bits of each before the high ones."""
    both = np.stack([held & 15, held >> 4], axis=-1)
    every = both.reshape(*held.shape[:-1], 2 * held.shape[-1])[..., :count]
    return (
        every if kind == "u4" else np.where(every > 7, every.astype("i1") - 16, every).astype("i1")
    )


def in_4_bits(values: Any) -> Any:
    """Bytes of two each, the first in the low half; what is behind the last of an odd row is 0."""
    made = np.zeros((*values.shape[:-1], (values.shape[-1] + 1) // 2), np.uint8)
    for at in np.ndindex(*values.shape):
        made[*at[:-1], at[-1] // 2] |= (int(values[at]) % 16) << (4 * (at[-1] % 2))
    return made
