"""Random programs in what makes programs short: families of Funcs, functions that stand for Funcs,
intervals of data and of variables, tuples, scalars of each call.

Each is drawn as a whole; the general generator has functions, tuples and scalars as well, but no families.
"""

from __future__ import annotations

from collections.abc import Sequence

from choices import Choices, chance, pick, shuffled
from tile_programs import TileProgram

TYPES = ("f32", "i32", "u8", "i16", "f64", "f16", "bf16", "u32", "i8", "u16", "f8e4m3")
STEPS = (
    "f[{0}] + f[{1}]", "max(f[{0}], f[{1}])", "f[{1}] - f[{0}]", "f[{0}] * 3 - f[{1}] / 2",
    "let q = f[{0}] in q * q + f[{1}]", "select(f[{0}] < f[{1}], f[{0}], f[{1}] + 1)",
)  # fmt: skip
PLACES = ("x + 1", "x - 2", "2 * x", "x / 2", "2 * x + 1", "x")
HELPERS = ("clamp_edge", "zero_edge", "mirror", "wrap")
EXTENTS = (9, 1, 4, 16, 17, 33, 7, 12, 2, 0)
OPERATORS = ("+", "max", "min", "*")
LANES = (4, 8, 3, 16, 5)


def family_program(c: Choices, target: str) -> TileProgram:
    """A pyramid: each level is made of the one before by the same function, and its values or those of
    each level are collected."""
    t, deep = pick(c, TYPES), chance(c, 40)
    rows = "y, " * deep
    levels = c.integer(1, 4) if chance(c, 70) else c.integer(4, 7)  # many share memory
    count = "J" if chance(c, 70) else str(levels)
    step = pick(c, STEPS).format(
        f"{rows}{pick(c, PLACES)}", f"{'y / 2 + 1, ' if deep else ''}{pick(c, PLACES)}"
    )
    pair = chance(c, 25)
    found = TileProgram([
        "size N" + ", M" * deep, *[f"param J: i32 = {levels}"] * (count == "J"),
        f"input A: {t}[{'M, ' * deep}N]", *[f"input gain: {t}"] * chance(c, 30),
        f"output O: {t}[{'M, ' * deep}N]",
        f"def step(f)[{rows}x] = {step}", f"edge = {pick(c, HELPERS)}(A)",
    ])  # fmt: skip
    more = " * gain" if "gain" in found.lines[-4] or "gain" in found.lines[-5] else ""
    if pair:
        found.lines += [
            f"(g[0][{rows}x], h[0][{rows}x]) = (edge[{rows}x], {t}(1))",
            f"for l in 1 .. {count} {{ (g[l][{rows}x], h[l][{rows}x]) ="
            f" (step(g[l - 1])[{rows}x], h[l - 1][{rows}{pick(c, PLACES)}] + g[l - 1][{rows}x]{more}) }}",
        ]
    elif chance(c, 40):
        op = pick(c, OPERATORS)
        found.lines += [
            f"reduce r in {pick(c, ('1', '3', '2', 'x % 3'))}",
            f"g[0][{rows}x] = edge[{rows}x]{more}",
            f"for l in 1 .. {count} {{ g[l][{rows}x] = {t}(l); g[l][{rows}x] {op}= g[l - 1][{rows}x + r] }}",
        ]
    else:
        found.lines += [
            f"g[0][{rows}x] = edge[{rows}x]{more}" if chance(c, 60) else "g[0] = step(edge)",
            f"for l in 1 .. {count} {{ g[l] = step(g[l - 1]) }}",
        ]
    found.lines += _collected(c, t, rows, count, pair)
    found.lines += _schedule(target, _levels(c, found, rows, levels, pair))
    return found


def _collected(c: Choices, t: str, rows: str, count: str, pair: bool) -> list[str]:
    """The output: of the last level, of the sum of all, or put together from the last level on."""
    other = f" + h[{count} - 1][{rows}x]" if pair else ""
    match c.integer(0, 2):
        case 0:
            return [f"O[{rows}x] = g[{count} - 1][{rows}x]{other}"]
        case 1:
            return [
                f"O[{rows}x] = {t}(0){other}",
                f"for l in 0 .. {count} {{ O[{rows}x] {pick(c, OPERATORS)}= g[l][{rows}x] }}",
            ]
        case _:
            return [
                f"up[{count} - 1][{rows}x] = g[{count} - 1][{rows}x]{other}",
                f"for l in 2 .. {count} + 1 {{ up[{count} - l][{rows}x] ="
                f" up[{count} - l + 1][{rows}x / 2] + g[{count} - l][{rows}x] }}",
                f"O[{rows}x] = up[0][{rows}x]",
            ]


def _levels(c: Choices, p: TileProgram, rows: str, levels: int, pair: bool) -> list[str]:
    """Directives for all members, for some, and for one."""
    text, lines = "\n".join(p.lines), []
    some = pick(c, ("g", "g[1 ..]", "g[0]", "h" if pair else "g"))
    if chance(c, 70):
        lines.append(f"{some}.compute_root(){_lanes(c)}")
    if "up[" in text and chance(c, 60):
        lines.append(f"{pick(c, ('up', 'up[1 ..]'))}.compute_root(){_lanes(c)}")
    if chance(c, 60):
        lines.append(f"O{_lanes(c)}" if chance(c, 50) else "O.split(x, xo, xi, 6, tail = guard)")
        last = f"O[{rows}x] = g[" in text
        if last and "xo" in lines[-1] and not lines[0].startswith(("g", "h")):
            lines.append(f"g[{levels - 1}].compute_at(O, xo)")
    if rows and chance(c, 30):
        lines.append("O.parallel(y)")
    return [x for x in lines if x != "O"]


def row_program(c: Choices, target: str) -> TileProgram:
    """Sums over intervals that end where data, variables or other reductions say: sparse rows, triangles."""
    t, deep = pick(c, TYPES), chance(c, 40)
    columns = ", j" * deep
    lines = [
        "size N, M, K" + ", W" * deep, "input ptr: i32[N + 1]", "input column: u16[K]",
        f"input value: {t}[K]", f"input x: {t}[M{', W' * deep}]", "bound ptr in 0 .. K + 1",
        "bound column in 0 .. M",
        f"output y: {t}[N{', W' * deep}]", "require 1 <= M",
    ]  # fmt: skip
    interval = pick(c, (
        "k in ptr[i] .. ptr[i + 1]", "k in ptr[i] .. ptr[i + 1]", "k in ptr[i + 1] .. K",
        "k in 0 .. min(i, K)", "k in min(i, K) .. K", "k in clamp(ptr[i] - 2, 0, K) .. ptr[i + 1]",
        "k in n .. ptr[i]", "k in 0 .. n",
    ))  # fmt: skip
    if "n" in interval.split():
        lines += ["input n: i32", "bound n in 0 .. K + 1"]
    again = chance(c, 25)
    second = (
        f", b in {pick(c, ('k .. min(k + 3, K)', '0 .. min(k, 4)', 'ptr[i] .. k'))}"
        if again
        else ""
    )
    lines.append(f"reduce {interval}{second}")
    term = f"value[{'b' if again else 'k'}] * x[column[k]{columns}]"
    where = pick(c, ("", "", "", " where k % 3 != 1", f" where x[column[k]{columns}] > value[k]"))
    place = f"[i{columns}]"
    if chance(c, 30):
        lines.append(f"output at: i32[N{', W' * deep}]")
        better = f"{term} {pick(c, ('>', '<', '>='))} y{place}"
        lines += [
            f"(y{place}, at{place}) = (0, -1)",
            f"(y{place}, at{place}) = select({better}, ({term}, i32(k)), (y{place}, at{place})){where}",
        ]
    else:
        lines += [
            f"y{place} = {pick(c, ('0', '1'))}",
            f"y{place} {pick(c, OPERATORS)}= {term}{where}",
        ]
    found = TileProgram(lines)
    loops = ["i", *["j"] * deep, "k", *["b"] * again]
    directives = []
    if chance(c, 50):
        directives.append(f"y.vectorize({'j' if deep else 'i'}, {pick(c, LANES)})")
    update = ""
    if deep and chance(c, 60):
        update += f".vectorize(j, {pick(c, LANES)})"
        order = ["i", *shuffled(c, ("j", "k")), *["b"] * again, "j_v"]
        update += f".reorder({', '.join(order)})" if chance(c, 50) else ""
    elif chance(c, 30):
        update += f".vectorize(i, {pick(c, LANES)})"
    elif chance(c, 20):
        update += f".unroll({loops[-1]}, 2)"
    update += ".parallel(i)" if chance(c, 40) and "(i," not in update else ""
    directives += [f"y.update{update}"] if update else []
    found.lines += _schedule(target, directives)
    return found


def _lanes(c: Choices) -> str:
    tail = pick(c, ("", "", ", tail = mask", ", tail = guard", ", tail = shift"))
    return f".vectorize(x, {pick(c, LANES)}{tail})" if chance(c, 70) else ""


def _schedule(target: str, lines: Sequence[str]) -> list[str]:
    return [f"schedule s for {target} {{", *(f"    {x}" for x in lines), "}"] if lines else []


def short_sizes(c: Choices, p: TileProgram) -> dict[str, int]:
    """Sizes that the program accepts, and its scalar that is one."""
    text = "\n".join(p.lines)
    names = p.lines[0].removeprefix("size ").split(", ")
    sizes = {n: pick(c, EXTENTS) for n in names}
    if "require 1 <= M" in text or "edge" in text:
        sizes = {n: max(v, 1) if n in ("M", "N") else v for n, v in sizes.items()}
    return sizes | ({"n": c.integer(0, sizes["K"])} if "input n: " in text else {})
