"""Random matrix products and convolutions for tile memory: types, layouts, tiles, starts and ends.

Tile memory takes few of the schedules that loops have, so these programs are drawn as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from choices import Choices, chance, pick, shuffled

TYPES = (
    ("bf16", "bf16", "f32"), ("u8", "i8", "i32"), ("i8", "u8", "i32"),
    ("i8", "i8", "i32"), ("u8", "u8", "i32"), ("f16", "f16", "f32"),
)  # fmt: skip
ROWS = (16, 8, 16, 5, 12, 1, 2)
COLUMNS = (16, 8, 16, 4, 12, 1, 2)
STEPS = (32, 64, 16, 8, 128, 12, 4)
EXTENTS = (32, 1, 16, 17, 40, 48, 7, 33, 2, 64)
CONDITIONS = (
    "{i} % 7 < 5", "{j} < 20", "{k} < 9", "{k} % 3 != 1", "{i} >= 3", "{i} < M - 1 and {j} > 0",
    "{k} <= {i}", "{k} > {j} + 2", "{i} - 3 < {k} and {k} <= {i}", "{k} == {i}", "2 * {k} <= {i} + 3",
    "{i} % 7 < 5 and {k} <= {i}", "{k} <= {i} and {k} > {j}", "let q = {k} % 3 in q > 0",
    "let q = {i} + 1 in {k} < q",
)  # fmt: skip
FINISHED = (
    "max({acc}, 0)", "{acc} + {acc}", "{acc} + bias[{j}]", "max({acc} + bias[{j}], 0)",
    "{acc} * 2 + D[{i}, {j}]", "{acc} * gain", "let t = {acc} * gain in t + t",
)  # fmt: skip
BEGUN = ("0", "1", "bias[{j}]", "D[{i}, {j}]", "{t}(A[{i}, 0])", "gain")


@dataclass(slots=True)
class TileProgram:
    """The lines of a program with its schedule, and of what its sizes must be multiples."""

    lines: list[str]
    divisible: dict[str, int] = field(default_factory=dict)


def tile_program(c: Choices) -> TileProgram:
    """A product of matrices, or a convolution."""
    return convolution(c) if chance(c, 30) else matrix_product(c)


def matrix_product(c: Choices) -> TileProgram:
    """C[i, j] = the sum over k of A[i, k] * B[k, j], with what comes before and after it."""
    a, b, t = pick(c, TYPES)
    g = 4 if t == "i32" else 2
    rows, columns, step = pick(c, ROWS), pick(c, COLUMNS), pick(c, STEPS)
    if chance(c, 10):
        rows, columns = 1, 1
    inputs, left, right = operands(c, a, b, g)
    factors = [f"{t}({left})", f"{t}({right})"]
    begun, finished = "0", "acc[i, j]"
    if chance(c, 25):
        begun = pick(c, BEGUN).format(i="i", j="j", t=t)
        begun = "2" if "A[" in begun and left == "A[k, i]" else begun
    if chance(c, 30):
        finished = pick(c, FINISHED).format(acc="acc[i, j]", i="i", j="j")
    where = ""
    if chance(c, 15):
        where = " where " + pick(c, CONDITIONS).format(i="i", j="j", k="k")
    found = TileProgram([
        *declared(inputs, t, begun + finished),
        f"output C: {t}[M, N]", "reduce k in K", f"acc: {t}[i, j] = {begun}",
        f"acc[i, j] += {' * '.join(shuffled(c, factors))}{where}", f"C[i, j] = {finished}",
    ])  # fmt: skip
    found.lines += _tiles(c, found, rows, columns, step)
    return found


def operands(c: Choices, a: str, b: str, g: int) -> tuple[dict[str, str], str, str]:
    """The inputs A and B of these types, plain, transposed or B in groups of g rows; and an element of
    each."""
    inputs = {"A": f"{a}[M, K]", "B": f"{b}[K, N]"}
    left, right = "A[i, k]", "B[k, j]"
    if chance(c, 20):
        inputs["A"], left = f"{a}[K, M]", "A[k, i]"
    if chance(c, 20):
        inputs["B"], right = f"{b}[N, K]", "B[j, k]"
    elif chance(c, 20):
        inputs["B"], right = f"{b}[(K + {g - 1}) / {g}, N, {g}]", f"B[k / {g}, j, k % {g}]"
    return inputs, left, right


def declared(inputs: dict[str, str], t: str, text: str) -> list[str]:
    """The lines of the inputs, and of those that the text reads besides."""
    more = {"bias": f"{t}[N]"} if "bias" in text else {}
    more |= {"D": f"{t}[M, N]"} if "D[" in text else {}
    more |= {"gain": t} if "gain" in text else {}
    return [f"input {name}: {what}" for name, what in {**inputs, **more}.items()]


def _tiles(c: Choices, found: TileProgram, rows: int, columns: int, step: int) -> list[str]:
    """The schedule of a matrix product: one tile at a time or several, operands ahead or not."""
    down, across = pick(c, ((1, 1), (1, 1), (2, 1), (1, 2), (2, 2)))
    exact, whole = (", tail = exact" if chance(c, 40) else "" for _ in "ck")
    if not exact and chance(c, 30):
        exact = pick(c, (", tail = shift", ", tail = guard"))
    if "exact" in exact:
        found.divisible |= {"M": rows * down, "N": columns * across}
    if whole:
        found.divisible["K"] = step
    order = ", ".join(shuffled(c, ("ii", "ji", "ki")))
    outer = "jo, io" if chance(c, 30) else "io, jo"
    first, at = outer.split(", ")
    height, width = rows * down, columns * across
    inner = f"it, jt, ii, ji, {rows}, {columns}"
    lines = [
        f"C.tile(i, j, io, jo, ib, jb, {height}, {width}{exact}).reorder({outer}, ib, jb)",
        f"C.tile(ib, jb, {inner}).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)",
        f"acc.compute_at(C, {at}).store_in(amx_tile)",
        f"acc.tile(i, j, {inner}).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)",
        f"acc.update.split(k, ko, ki, {step}{whole}).tile(i, j, {inner})",
        f"acc.update.reorder(ko, it, jt, {order}).unroll(it).unroll(jt)",
        "acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)",
    ]
    if chance(c, 10):
        lines.append("acc.reorder_storage(j, i)")
    if chance(c, 20):
        lines.append(f"C.parallel({first})")
    if down * across < 4 and chance(c, 20):  # else 12 tile registers
        lines.append("acc.update.pipeline(ko, 2)")
    return _schedule(lines)


def convolution(c: Choices) -> TileProgram:
    """O[y, x] = the sum over r of K[r] * I[y, s * x + r]."""
    a, b, t = pick(c, TYPES)
    stride = pick(c, (1, 1, 2, 3))
    block, step = pick(c, (256, 64, 128, 16)), pick(c, (16, 8, 32, 4))
    factors = shuffled(c, (f"{t}(K[r])", f"{t}(I[y, {stride} * x + r])"))
    exact = ", tail = exact" if chance(c, 40) else ""
    finished = pick(c, ("acc[y, x]", "acc[y, x]", "max(acc[y, x], 0)"))
    found = TileProgram([
        f"input I: {a}[M, {stride} * N + K]", f"input K_: {b}[K]", f"output O: {t}[M, N]", "reduce r in K",
        f"acc: {t}[y, x] = 0", f"acc[y, x] += {' * '.join(factors)}".replace("K[r]", "K_[r]"),
        f"O[y, x] = {finished}",
    ])  # fmt: skip
    if exact:
        found.divisible["N"] = block
    order = ", ".join(["ro", *shuffled(c, ("y", "x", "ri"))]) if chance(c, 30) else "ro, y, x, ri"
    found.lines += _schedule([
        f"O.split(x, xo, xi, {block}{exact}).vectorize(xi)",
        "acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)",
        f"acc.update.split(r, ro, ri, {step}).reorder({order})",
        "acc.update.atomic().vectorize(x).vectorize(ri)",
    ])  # fmt: skip
    return found


def _schedule(lines: list[str]) -> list[str]:
    return ["schedule s for amx {", *(f"    {line}" for line in lines), "}"]


def tile_sizes(c: Choices, p: TileProgram) -> dict[str, int]:
    """Sizes that the program accepts."""
    sizes = {}
    for name in ("M", "N", "K"):
        n = p.divisible.get(name, 1)
        sizes[name] = n * c.integer(1, 2) if n > 1 else pick(c, EXTENTS)
    return sizes
