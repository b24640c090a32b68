"""Random matrix products and filters with their sums in registers: types, layouts, blocks, starts and ends.

As in samples/gemm_*.hb and conv1d_*.hb: what the general generator would draw once in a million programs.
"""

from __future__ import annotations

from choices import Choices, chance, pick, shuffled
from tile_programs import BEGUN, CONDITIONS, FINISHED, TileProgram, declared, operands

BYTES = (
    ("u8", "i8", "i32"), ("u8", "i8", "i32"), ("i8", "u8", "i32"), ("i16", "i16", "i32"),
    ("u8", "u8", "i32"), ("i8", "i8", "i32"),
)  # fmt: skip
WORDS = (("u8", "i16", "i32"), ("i16", "i8", "i32"))
HALVES = ("bf16", "bf16", "f32")
FLOATS = (("f32", "f32", "f32"), ("bf16", "f16", "f32"), ("f16", "f16", "f32"))
TYPES = {
    "avx512vnni": (*BYTES, *WORDS),
    "avxvnni": (*BYTES, *WORDS),
    "avx512bf16": (HALVES, HALVES, *FLOATS),
    "arm_dot": (*BYTES, HALVES),
}
WIDTHS = {"avx512vnni": 16, "avxvnni": 8, "avx512bf16": 16, "arm_dot": 4}
TAILS = ("shift", "shift", "mask", "guard", "exact")
EXTENTS = (1, 16, 17, 33, 7, 40, 64, 5, 2)
LENGTHS = (1, 4, 7, 16, 32, 35, 64, 2)
TO_BYTES = "u8(clamp(round(f32(max({acc}, 0)) * 0.0005), 0.0, 255.0))"


def register_program(c: Choices, target: str) -> TileProgram:
    """A product of matrices, a filter, or a product of a matrix and a vector."""
    kind = pick(c, (_matrix_product, _matrix_product, _filter, _filter, _vector_product))
    return kind(c, target)


def _matrix_product(c: Choices, target: str) -> TileProgram:
    """C[i, j] = the sum over k of A[i, k] * B[k, j], with what comes before and after it."""
    a, b, t = pick(c, TYPES[target])
    g = _group(a, t)
    inputs, left, right = operands(c, a, b, g)
    factors = shuffled(c, (_cast(t, a, left), _cast(t, b, right)))
    begun = pick(c, ("0", "0", "0", *BEGUN))
    begun = "2" if "A[" in begun and (left == "A[k, i]" or a == t) else begun
    finished, result = pick(c, ("{acc}", "{acc}", *FINISHED)), t
    if t == "i32" and chance(c, 20):
        finished, result = TO_BYTES, "u8"
    where = " where " + pick(c, CONDITIONS) if chance(c, 10) else ""
    begun, finished, where = (
        x.format(i="i", j="j", k="k", t=t, acc="acc[i, j]") for x in (begun, finished, where)
    )
    found = TileProgram([
        *declared(inputs, t, begun + finished),
        f"output C: {result}[M, N]", "reduce k in K", f"acc: {t}[i, j] = {begun}",
        f"acc[i, j] += {' * '.join(factors)}{where}", f"C[i, j] = {finished}",
    ])  # fmt: skip
    width = WIDTHS[target]
    rows, columns = pick(c, (4, 1, 2, 3)), width * pick(c, (2, 1, 4))
    tail, step = _tail(c, found, {"M": rows, "N": columns}), _split(c, found, "k", "K", g)
    unrolled = "" if rows == 1 and chance(c, 50) else ".unroll(i)"
    order = pick(c, ("ko, i, j, ki", "ko, j, i, ki", "ko, i, ki, j"))
    at = pick(c, ("io", "jo"))
    around = "jo, io, ii, ji" if at == "io" else "io, jo, ii, ji"
    found.lines += _schedule(target, [
        f"C.tile(i, j, io, jo, ii, ji, {rows}, {columns}{tail}).reorder({around})",
        f"C.vectorize(ji, {width}).unroll(ji).unroll(ii)" + ".parallel(jo)" * chance(c, 20),
        f"acc.compute_at(C, {at}).store_in(registers).vectorize(j, {width}){unrolled}.unroll(j)",
        f"acc.update{step}.reorder({order}).atomic().vectorize(ki)",
        f"acc.update.vectorize(j, {width}){unrolled}.unroll(j)",
    ])  # fmt: skip
    return found


def _filter(c: Choices, target: str) -> TileProgram:
    """O[y, x] = the sum over r (and q) of K[r] * I[y, s * x + r], of one row or of several."""
    a, b, t = pick(c, TYPES[target])
    g, stride, deep = _group(a, t), pick(c, (1, 1, 2, 3)), chance(c, 25)
    x = "x + r" if stride == 1 else f"{stride} * x + r"
    tap, element = ("K_[q, r]", f"I[y + q, {x}]") if deep else ("K_[r]", f"I[y, {x}]")
    factors = shuffled(c, (_cast(t, b, tap), _cast(t, a, element)))
    finished, result = pick(c, ("{acc}", "{acc}", "max({acc}, 0)")), t
    if t == "i32" and chance(c, 20):
        finished, result = TO_BYTES, "u8"
    found = TileProgram([
        f"input I: {a}[M{' + 2' * deep}, {stride} * N + K]", f"input K_: {b}[{'3, ' * deep}K]",
        f"output O: {result}[M, N]", "reduce r in K", *["reduce q in 3"] * deep,
        f"acc: {t}[y, x] = 0", f"acc[y, x] += {' * '.join(factors)}",
        f"O[y, x] = {finished.format(acc='acc[y, x]')}",
    ])  # fmt: skip
    width = WIDTHS[target]
    rows, columns = pick(c, (1, 1, 2)), width * pick(c, (2, 1, 4, 8))
    tail, step = _tail(c, found, {"M": rows, "N": columns}), _split(c, found, "r", "K", g)
    order = f"{'q, ' * deep}ro, {pick(c, ('y, x, ri', 'x, y, ri'))}"
    special = f".specialize(K % {2 * g} == 0).split(r, ro, ri, {2 * g}).reorder({order})"
    lanes = f".atomic().vectorize(ri).vectorize(x, {width}).unroll(x).unroll(y)"
    found.lines += _schedule(target, [
        f"O.tile(y, x, yo, xo, yi, xi, {rows}, {columns}{tail})",
        f"O.vectorize(xi, {width}).unroll(xi).unroll(yi)" + ".parallel(yo)" * chance(c, 20),
        f"acc.compute_at(O, xo).store_in(registers).vectorize(x, {width}).unroll(x).unroll(y)",
        *[f"acc.update{special}{lanes}"] * chance(c, 20),
        f"acc.update{step}.reorder({order}){lanes}",
    ])  # fmt: skip
    return found


def _vector_product(c: Choices, target: str) -> TileProgram:
    """C[i] = the sum over k of A[i, k] * B[k], all lanes to one number."""
    a, b, t = pick(c, TYPES[target])
    rows, lanes = pick(c, (1, 4, 2)), WIDTHS[target] * _group(a, t) * pick(c, (1, 2))
    factors = shuffled(c, (_cast(t, a, "A[i, k]"), _cast(t, b, "B[k]")))
    found = TileProgram([
        f"input A: {a}[M, K]", f"input B: {b}[K]", f"output C: {t}[M]", "reduce k in K",
        f"acc: {t}[i] = {pick(c, ('0', '1'))}", f"acc[i] += {' * '.join(factors)}",
        f"C[i] = {pick(c, ('acc[i]', 'max(acc[i], 0)'))}",
    ])  # fmt: skip
    tail = _tail(c, found, {"M": rows})
    found.lines += _schedule(target, [
        f"C.split(i, io, ii, {rows}{tail}).unroll(ii)",
        "acc.compute_at(C, io).store_in(registers).unroll(i)",
        f"acc.update.atomic().reorder(k, i).vectorize(k, {lanes}).unroll(i)",
    ])  # fmt: skip
    return found


def _cast(total: str, element: str, read: str) -> str:
    return read if element == total else f"{total}({read})"


def _group(element: str, total: str) -> int:
    """How many products an instruction adds up in a lane."""
    return 4 if total == "i32" and element != "i16" else 2


def _tail(c: Choices, found: TileProgram, blocks: dict[str, int]) -> str:
    tail = pick(c, TAILS)
    if tail == "exact":
        found.divisible |= blocks
    return f", tail = {tail}"


def _split(c: Choices, found: TileProgram, variable: str, size: str, group: int) -> str:
    step = group * pick(c, (1, 2, 4)) if chance(c, 90) else pick(c, (3, 6, 5))
    tail = pick(c, ("", "", ", tail = exact", ", tail = mask"))
    if "exact" in tail:
        found.divisible[size] = step
    return f".split({variable}, {variable}o, {variable}i, {step}{tail})"


def _schedule(target: str, lines: list[str]) -> list[str]:
    return [f"schedule s for {target} {{", *(f"    {line}" for line in lines), "}"]


def register_sizes(c: Choices, p: TileProgram, names: list[str]) -> dict[str, int]:
    """Sizes that the program accepts."""
    sizes = {}
    for name in names:
        n = p.divisible.get(name, 1)
        sizes[name] = n * c.integer(1, 2) if n > 1 else pick(c, LENGTHS if name == "K" else EXTENTS)
    return sizes
