"""The kernels that are spelled anew, with a schedule that is legal for them, drawn at random.

A kernel here is a text without cleverness; `respellings` makes it look different.
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
    """A reduction of a kernel: its domains, the position along it, its loops from the outermost on,
    the split that makes them, and its extent's size."""

    domains: str
    at: str
    loops: tuple[str, str]
    split: str
    requires: str


def draw_sum(name: str, size: str, inner: int, r: Random) -> Sum:
    """`name in size` in steps of `inner`: split by the schedule, or two reductions from the start."""
    require = f"require {size} % {inner} == 0\n"
    if r.random() < 0.7:
        tail = ", tail = exact"
        split = f".split({name}, {name}o, {name}i, {inner}{tail})"
        return Sum(f"{name} in {size}", name, (f"{name}o", f"{name}i"), split, "")
    at = f"{inner} * {name}o + {name}i"
    domains = f"{name}o in {size} / {inner}, {name}i in {inner}"
    return Sum(domains, at, (f"{name}o", f"{name}i"), "", require)


def shuffled(r: Random, *items: str) -> list[str]:
    order = list(items)
    r.shuffle(order)
    return order


def gemm(r: Random) -> Drawn:
    """C = A B, of bf16 or bytes, in tiles or registers."""
    return _gemm_tiles(r) if r.random() < 0.5 else _gemm_lanes(r)


def _product(t: Types, s: Sum) -> str:
    return f"""
size M, N, K
input A: {t.a}[M, K]
input B: {t.b}[K, N]
output C: {t.sum}[M, N]
reduce {s.domains}
{s.requires}acc[i, j] = 0
acc[i, j] += {t.sum}(A[i, {s.at}]) * {t.sum}(B[{s.at}, j])
C[i, j] = acc[i, j]
"""


def _gemm_tiles(r: Random) -> Drawn:
    t = r.choice(TILES)
    rows, columns = r.choice([(16, 16), (16, 16), (8, 16), (16, 32), (32, 16), (16, 4)])
    depth = t.group * r.choice([16, 16, 8, 32])
    s = draw_sum("k", "K", depth, r)
    outer, inner = s.loops
    body = ", ".join(shuffled(r, "i", "j", inner))
    vectors = "".join(f".vectorize({x})" for x in shuffled(r, "i", "j", inner))
    text = f"""{_product(t, s)}schedule s for amx {{
    C.tile(i, j, io, jo, ii, ji, {rows}, {columns}, tail = exact)
    C{"".join(f".vectorize({x})" for x in shuffled(r, "ii", "ji"))}
    acc.compute_at(C, jo).store_in(amx_tile)
    acc{"".join(f".vectorize({x})" for x in shuffled(r, "i", "j"))}
    acc.update{s.split}.reorder({outer}, {body})
    acc.update.atomic(){vectors}
}}
"""
    sizes = {"M": rows * r.choice([1, 2]), "N": columns * r.choice([1, 2]), "K": depth * 2}
    return Drawn(text, t.target, sizes)


def _gemm_lanes(r: Random) -> Drawn:
    t = r.choice(LANES)
    rows, columns = r.choice([(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (4, 1)])
    depth = t.group * r.choice([1, 1, 2, 4])
    s = draw_sum("k", "K", depth, r)
    outer, inner = s.loops
    body = ", ".join(shuffled(r, "i", "j", inner))
    steps = "".join(shuffled(r, f".vectorize({inner})", ".vectorize(j, 16)"))
    text = f"""{_product(t, s)}schedule s for {t.target} {{
    C.tile(i, j, io, jo, ii, ji, {rows}, {16 * columns}, tail = exact)
    C.vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update{s.split}.reorder({outer}, {body})
    acc.update.atomic(){steps}.unroll(i).unroll(j)
}}
"""
    sizes = {"M": rows * 2, "N": 16 * columns * 2, "K": depth * r.choice([1, 3])}
    return Drawn(text, t.target, sizes)


def conv1d(r: Random) -> Drawn:
    """Rows of an image with a row of taps."""
    t = r.choice(LANES)
    blocks = r.choice([1, 2, 4])
    depth = t.group * r.choice([1, 2, 4])
    s = draw_sum("r", "T", depth, r)
    outer, inner = s.loops
    body = ", ".join(shuffled(r, "x", inner))
    steps = "".join(shuffled(r, f".vectorize({inner})", ".vectorize(x, 16)"))
    text = f"""
size H, W, T
input I: {t.a}[H, W + T - 1]
input F: {t.b}[T]
output O: {t.sum}[H, W]
reduce {s.domains}
{s.requires}acc[y, x] = 0
acc[y, x] += {t.sum}(F[{s.at}]) * {t.sum}(I[y, x + {s.at}])
O[y, x] = acc[y, x]
schedule s for {t.target} {{
    O.split(x, xo, xi, {16 * blocks}, tail = exact).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update{s.split}.reorder({outer}, y, {body})
    acc.update.atomic(){steps}.unroll(x)
}}
"""
    sizes = {"H": 2, "W": 32 * blocks, "T": depth * r.choice([1, 2])}
    return Drawn(text, t.target, sizes)


def downsample(r: Random) -> Drawn:
    """Taps of two dimensions at every second row and column."""
    t = r.choice(LANES)
    blocks = r.choice([1, 2])
    depth = t.group * r.choice([1, 2])
    s = draw_sum("r", "T", depth, r)
    outer, inner = s.loops
    loops = ", ".join(shuffled(r, "s", outer))
    body = ", ".join(shuffled(r, "x", inner))
    steps = "".join(shuffled(r, f".vectorize({inner})", ".vectorize(x, 16)"))
    text = f"""
size H, W, T
input I: {t.a}[2 * H + T - 2, 2 * W + T - 2]
input F: {t.b}[T, T]
output O: {t.sum}[H, W]
reduce s in T, {s.domains}
{s.requires}acc[y, x] = 0
acc[y, x] += {t.sum}(F[s, {s.at}]) * {t.sum}(I[2 * y + s, 2 * x + {s.at}])
O[y, x] = acc[y, x]
schedule s for {t.target} {{
    O.split(x, xo, xi, {16 * blocks}, tail = exact).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update{s.split}.reorder({loops}, y, {body})
    acc.update.atomic(){steps}.unroll(x)
}}
"""
    return Drawn(text, t.target, {"H": 2, "W": 16 * blocks, "T": depth * r.choice([1, 2])})


KERNELS: dict[str, Callable[[Random], Drawn]] = {
    "gemm": gemm,
    "conv1d": conv1d,
    "downsample": downsample,
}
