"""Calls of the entries of the library that ships with hbc: every function of `std/` comes up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from choices import pick, weighted
from draft import Array, Env
from indices import note, one_index, window
from spans import constant

from hbc.ir.lang.types import BOOL, DTYPES, F32, U32, DType, Kind

Inner = Callable[[Env, DType, int], str]
"""What draws an argument: an expression of a type, so deep."""

# Functions of values that are all of one type: which types, the file, the names, how many arguments.
ALIKE: tuple[tuple[str, str, int, str], ...] = (
    ("number", "math", 1, "square cube"),
    ("number", "math", 2, "absd"),
    ("number", "ml", 1, "relu relu6"),
    ("signed", "math", 1, "sign"),
    ("integer", "math", 2, "rounding_average halving_average"),
    ("word", "math", 1, "popcount filled_below clz bit_reverse"),
    ("float", "math", 1, "log2 log10 cbrt log1p expm1 sinh cosh tan trunc asin acos erf erfc"),
    ("float", "math", 1, "atan atan_small atan_positive erf_small erfc_great"),
    ("float", "math", 2, "float_mod pow power hypot atan2"),
    ("float", "math", 3, "lerp smoothstep"),
    ("float", "ml", 1, "sigmoid silu hard_sigmoid hard_swish gelu softplus"),
    ("float", "ml", 2, "leaky_relu"),
    ("float", "image", 1, "linear_of_srgb srgb_of_linear"),
    ("float", "image", 3, "luma blue_difference red_difference"),
)  # fmt: skip
TYPES: dict[str, Callable[[DType], bool]] = {
    "number": lambda t: t != BOOL,
    "signed": lambda t: t.is_float or t.kind is Kind.INT,
    "integer": lambda t: t.is_int,
    "word": lambda t: t == U32,
    "float": lambda t: t.is_float,
}
# Of two arguments of the type that the name ends with; the value has the first or the second width.
OF_BYTES_AND_WORDS = {
    "saturating_add": 1, "saturating_sub": 1, "widening_mul": 2, "mul_high": 1, "mul_round": 1,
}  # fmt: skip
LACKING = ("mul_high_u8", "mul_high_i8", "mul_round_u8", "mul_round_i8", "mul_round_u16")
OF_PAIRS = (
    "cadd({0}, {1})", "csub({0}, {1})", "cmul({0}, {1})", "cdiv({0}, {1})", "cscale({0}, {2})",
    "times_i({0})", "conj({0})", "cexp({0})", "expi({2})",
)  # fmt: skip
EXTREMES = ("argmax", "argmin")
# Functions that stand for Funcs of two dimensions: how far before and behind a place they read.
AROUND = {
    "blur3_x": (0, 1), "blur3_y": (1, 0), "blur5_x": (0, 2), "blur5_y": (2, 0),
    "sobel_x": (1, 1), "sobel_y": (1, 1),
}  # fmt: skip
ELSEWHERE = ("half_x", "half_y", "half", "twice_x", "twice_y", "twice")
EDGES = ("clamped", "zero_outside", "reflected", "repeated")
OF_ROWS = ("row_sum", "row_max", "row_mean", "mean_square", "row_variance")
DEEPEST = 2  # of arguments: what is written stands in the body again and again


def library_call(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """A call of an entry that gives the type; an expression without one where there is none."""
    depth = min(depth - 1, DEEPEST)
    kinds = [(4, of_values), (2, of_width)]
    if t.is_float:
        kinds += [(2, of_complex)]
        kinds += [(1, dequantised)] if t == F32 else []
    if env.variables:
        kinds += [(2, of_funcs), (1, of_rows)]
    return weighted(env.c, kinds)(env, t, depth, inner) or inner(env, t, depth)


def of_values(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """One whose arguments are all of its own type."""
    fitting = [row for row in ALIKE if TYPES[row[0]](t)]
    weights = [(len(names.split()), (file, n, names)) for _, file, n, names in fitting]
    file, count, names = weighted(env.c, weights)
    return called(
        env, file, pick(env.c, names.split()), [inner(env, t, depth) for _ in range(count)]
    )


def of_width(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """One that is there for bytes and words: saturating, widening, rounding."""
    c = env.c
    if not t.is_int or t.bits > 32:
        return ""
    if c.integer(0, 2) == 0:
        x = inner(env, pick(c, [u for u in env.draft.palette if u != BOOL]), depth)
        return saturated(env, t, x)
    if c.integer(0, 4) == 0:
        return called(env, "math", "rounding_shift", [inner(env, t, depth), str(c.integer(1, 4))])
    fitting = []
    for word, width in OF_BYTES_AND_WORDS.items():
        source = DTYPES.get(f"{t.name[0]}{t.bits // width}")
        name = f"{word}_{source}"
        if source is not None and source.bits in (8, 16) and name not in LACKING:
            fitting.append((name, source))
    if not fitting:
        return ""
    name, source = pick(c, fitting)
    given = [
        f"{source}({inner(env, t, depth)})" if source != t else inner(env, t, depth) for _ in "ab"
    ]
    return called(env, "math", name, given)


def saturated(env: Env, t: DType, x: str) -> str:
    """A number brought into the type, of which it says itself what it holds; or a sum that is scaled."""
    c = env.c
    small = t.bits <= 16
    form = c.integer(0, 2 if t.bits == 8 else 1 if small else 0)
    if form == 2:
        name = pick(c, ("requantised", "quantised"))
        zero = str(c.integer(0, 100))
        scale = pick(c, ("0.5", "0.0625", "1.75"))
        return called(env, "ml", f"{name}_{t}", [f"f32({x})", scale, zero])
    if form == 1:
        return called(env, "math", f"saturate_{t}", [f"f64({x})"])
    low, high = t.limits
    return called(env, "math", "saturate", [f"f64({x})", t.name, str(low), str(high)])


def dequantised(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """A number of a grid."""
    x = inner(env, pick(env.c, [u for u in env.draft.palette if u != BOOL]), depth)
    return called(env, "ml", "dequantised", [x, pick(env.c, ("0.5", "0.03125")), "128"])


def of_complex(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """A part of a complex number, or of the pair of a greatest number and its place."""
    c = env.c
    one, other = (f"({inner(env, t, depth - 1)}, {inner(env, t, depth - 1)})" for _ in range(2))
    if c.integer(0, 3) == 0:
        value = called(env, "math", pick(c, EXTREMES), [one, other])
    else:
        value = pick(c, OF_PAIRS).format(one, other, inner(env, t, depth - 1))
    if t.bits == 32 and c.integer(0, 3) == 0:
        value = f"c32({value})"
    elif t.bits == 64 and c.integer(0, 3) == 0:
        value = f"c64({value})"
    return called(env, "complex", pick(c, ("re", "im", "norm2")), [value])


def of_funcs(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """A stencil of an array that has an edge or goes on, or an array whose edge the entry itself makes."""
    c = env.c
    flat = [a for a in env.readable if a.element == t and a.rank == 2 and a.kind != "table"]
    if not flat:
        return ""
    a = pick(c, flat)
    if c.integer(0, 2) == 0:
        return with_edge(env, a)
    if a.helper and c.integer(0, 1) == 0:
        at = window(env, a, (0, 0))
        return called(env, "image", pick(c, ELSEWHERE), [a.name], at)
    name = pick(c, list(AROUND))
    before = AROUND[name]
    at = [
        f"{i} + {n}" if n else i
        for i, n in zip(window(env, a, [2 * n for n in before]), before, strict=True)
    ]
    return called(env, "image", name, [a.name], at)


def with_edge(env: Env, a: Array) -> str:
    """The elements of a beginning of the array, and what is said to lie around them."""
    c = env.c
    shape = c.integer(1, 4), c.integer(1, 4)
    if a.helper:
        window(env, a, (0, 0))
    else:
        a.need([constant(0, n - 1) for n in shape])
        note(env, a, None)
    at = [f"{pick(c, list(env.variables))} - {c.integer(0, 3)}" for _ in shape]
    return called(env, "image", pick(c, EDGES), [a.name, *map(str, shape)], at)


def of_rows(env: Env, t: DType, depth: int, inner: Inner) -> str:
    """A reduction of a row, which is a Func of its own."""
    c = env.c
    flat = [
        a for a in env.readable
        if a.element == t and a.rank == 2 and a.kind != "table" and not a.helper
    ]  # fmt: skip
    if not flat:
        return ""
    a, n = pick(c, flat), c.integer(1, 5)
    apart = replace(env, reads={})
    row, span, _ = one_index(apart, a, 0)
    note(apart, a, None)
    a.need([span, constant(0, n - 1)])
    name = pick(c, OF_ROWS if t == F32 else OF_ROWS[:2])
    given = [a.name, row, str(n)]
    if name == "row_variance":
        means = [m for m in env.readable if m.element == F32 and m.rank == 1 and m.helper]
        if not means:
            return called(env, "ml", "row_mean", given)
        note(apart, means[0], None)
        window(apart, means[0], (0,))
        given.insert(1, means[0].name)
    env.draft.apart |= apart.reads.keys()
    return called(env, "ml", name, given)


def called(env: Env, file: str, name: str, given: list[str], at: list[str] | None = None) -> str:
    """The call, whose file is imported."""
    line = f'import "std/{file}.hb"'
    if line not in env.draft.declarations:
        env.draft.declarations.append(line)
    return f"{name}({', '.join(given)})" + (f"[{', '.join(at)}]" if at else "")
