"""The kernels that are spelled anew, each with a schedule that is legal for it, drawn at random.

A program here is a text without cleverness; `respellings` makes it look different.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Sizes = dict[str, int]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program for a target, and sizes to run it at."""

    text: str
    target: str
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class Types:
    """Operands, sums, how many of an operand's elements an instruction takes along a sum, target."""

    a: str
    b: str
    sum: str
    group: int
    target: str


LANES = (
    Types("bf16", "bf16", "f32", 2, "avx512bf16"),
    Types("u8", "i8", "i32", 4, "avx512vnni"),
    Types("i8", "u8", "i32", 4, "avx512vnni"),
)
TILES = (
    Types("bf16", "bf16", "f32", 2, "amx"),
    Types("f16", "f16", "f32", 2, "amx"),
    *(Types(a, b, "i32", 4, "amx") for a in ("i8", "u8") for b in ("i8", "u8")),
)


@dataclass(frozen=True, slots=True)
class Sum:
    """A reduction in steps: its domains, the position along it, its loops from the outermost on, the
    split that makes them, a condition that it needs, and an extent to run it with."""

    domains: str
    at: str
    outer: str
    inner: str
    split: str
    requires: str
    extent: int


def draw_sum(name: str, size: str, step: int, r: Random) -> Sum:
    """`name in size` by `step`: split by the schedule, or two reductions from the start."""
    outer, inner = f"{name}o", f"{name}i"
    whole = step * r.choice([1, 2, 3])
    if r.random() < 0.3:
        domains = f"{outer} in {size} / {step}, {inner} in {step}"
        require = f"require {size} % {step} == 0\n"
        return Sum(domains, f"{step} * {outer} + {inner}", outer, inner, "", require, whole)
    exact = r.random() < 0.5
    tail = ", tail = exact" if exact else ""
    split = f".split({name}, {outer}, {inner}, {step}{tail})"
    extent = whole if exact else r.randint(1, 3 * step)
    return Sum(f"{name} in {size}", name, outer, inner, split, "", extent)


def draw_tail(r: Random) -> tuple[str, bool]:
    """An option for the splits of an output, and whether it lets their factors not divide."""
    tail = r.choice(["exact", "exact", "mask", "shift"])
    return f", tail = {tail}", tail != "exact"


def extent(block: int, any_size: bool, r: Random) -> int:
    """Blocks, or something around them."""
    return r.randint(1, 2 * block + 1) if any_size else block * r.choice([1, 2])


def shuffled(r: Random, *items: str) -> list[str]:
    order = list(items)
    r.shuffle(order)
    return order


def vectors(r: Random, *loops: str) -> str:
    """`vectorize` of each, in any order."""
    return "".join(f".vectorize({x})" for x in shuffled(r, *loops))


def gemm(r: Random) -> Drawn:
    """C = A B of bf16 or bytes, with an initial value and a last step or without."""
    return _gemm_tiles(r) if r.random() < 0.5 else _gemm_lanes(r)


def _product(t: Types, s: Sum, r: Random) -> str:
    start = r.choice(["0", "0", "0", "bias[j]", "3"])
    end = r.choice(["{}", "{}", "{}", "max({}, 0)", "{} + bias[j]"]).format("acc[i, j]")
    bias = f"input bias: {t.sum}[N]\n" if "bias" in start + end else ""
    return f"""
size M, N, K
input A: {t.a}[M, K]
input B: {t.b}[K, N]
{bias}output C: {t.sum}[M, N]
reduce {s.domains}
{s.requires}acc[i, j] = {start}
acc[i, j] += {t.sum}(A[i, {s.at}]) * {t.sum}(B[{s.at}, j])
C[i, j] = {end}
"""


def _gemm_tiles(r: Random) -> Drawn:
    t = r.choice(TILES)
    rows, columns = r.choice([(16, 16), (16, 16), (8, 16), (16, 32), (32, 16), (16, 4)])
    s = draw_sum("k", "K", t.group * r.choice([16, 16, 8, 32]), r)
    tail, any_size = draw_tail(r)
    text = f"""{_product(t, s, r)}schedule s for {t.target} {{
    C.tile(i, j, io, jo, ii, ji, {rows}, {columns}{tail}){vectors(r, "ii", "ji")}
    acc.compute_at(C, jo).store_in(amx_tile){vectors(r, "i", "j")}
    acc.update{s.split}.reorder({s.outer}, {", ".join(shuffled(r, "i", "j", s.inner))})
    acc.update.atomic(){vectors(r, "i", "j", s.inner)}
}}
"""
    sizes = {"M": extent(rows, any_size, r), "N": extent(columns, any_size, r), "K": s.extent}
    return Drawn(text, t.target, sizes)


def _gemm_lanes(r: Random) -> Drawn:
    t = r.choice(LANES)
    rows, columns = r.choice([(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
    s = draw_sum("k", "K", t.group * r.choice([1, 1, 2, 4]), r)
    tail, any_size = draw_tail(r)
    text = f"""{_product(t, s, r)}schedule s for {t.target} {{
    C.tile(i, j, io, jo, ii, ji, {rows}, {16 * columns}{tail})
    C.vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update{s.split}.reorder({s.outer}, {", ".join(shuffled(r, "i", "j", s.inner))})
    acc.update.atomic(){vectors(r, s.inner, "j, 16")}.unroll(i).unroll(j)
}}
"""
    sizes = {"M": extent(rows, any_size, r), "N": extent(16 * columns, any_size, r), "K": s.extent}
    return Drawn(text, t.target, sizes)


def conv1d(r: Random) -> Drawn:
    """Rows of an image with a row of taps."""
    tiles = r.random() < 0.3
    t = r.choice(TILES if tiles else LANES)
    s = draw_sum("r", "T", t.group * r.choice([1, 2, 4]), r)
    algorithm = f"""
size H, W, T
input I: {t.a}[H, W + T - 1]
input F: {t.b}[T]
output O: {t.sum}[H, W]
reduce {s.domains}
{s.requires}acc[y, x] = 0
acc[y, x] += {t.sum}(F[{s.at}]) * {t.sum}(I[y, x + {s.at}])
O[y, x] = acc[y, x]
"""
    return _filter(algorithm, t, s, s.outer, tiles, r)


def downsample(r: Random) -> Drawn:
    """Taps of two dimensions at every second row and column."""
    tiles = r.random() < 0.3
    t = r.choice(TILES if tiles else LANES)
    s = draw_sum("r", "T", t.group * r.choice([1, 2]), r)
    algorithm = f"""
size H, W, T
input I: {t.a}[2 * H + T - 2, 2 * W + T - 2]
input F: {t.b}[T, T]
output O: {t.sum}[H, W]
reduce s in T, {s.domains}
{s.requires}acc[y, x] = 0
acc[y, x] += {t.sum}(F[s, {s.at}]) * {t.sum}(I[2 * y + s, 2 * x + {s.at}])
O[y, x] = acc[y, x]
"""
    return _filter(algorithm, t, s, ", ".join(shuffled(r, "s", s.outer)), tiles, r)


def _filter(algorithm: str, t: Types, s: Sum, loops: str, tiles: bool, r: Random) -> Drawn:
    tail, any_size = draw_tail(r)
    width = r.choice([256, 128]) if tiles else 16 * r.choice([1, 2])
    body = ", ".join(shuffled(r, "x", s.inner))
    if tiles:
        lanes = f"""O.split(x, xo, xi, {width}{tail}).vectorize(xi)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
    acc.update.atomic(){{split}}.reorder({loops}, y, {body}){vectors(r, "x", s.inner)}"""
    else:
        lanes = f"""O.split(x, xo, xi, {width}{tail}).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update.atomic(){{split}}.reorder({loops}, y, {body}){vectors(r, "x, 16", s.inner)}.unroll(x)"""
    text = f"{algorithm}schedule s for {t.target} {{\n    {lanes.format(split=s.split)}\n}}\n"
    return Drawn(text, t.target, {"H": 2, "W": extent(width, any_size, r), "T": s.extent})


KERNELS: dict[str, Callable[[Random], Drawn]] = {
    "gemm": gemm,
    "conv1d": conv1d,
    "downsample": downsample,
}
