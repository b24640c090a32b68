"""Random matrix products in fragments of tensor cores: types, shapes, layouts, warps, staged operands.

They run in the interpreter; how the CUDA code of such products runs is a table in `tests/codegen/cuda`.
"""

from __future__ import annotations

from choices import Choices, chance, pick, shuffled
from tile_programs import BEGUN, CONDITIONS, FINISHED, TileProgram, declared, operands

TYPES = (
    ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32"), ("u8", "u8", "i32"),
)  # fmt: skip
OF_MMA = (*TYPES, ("f8e4m3", "f8e4m3", "f32"), ("f8e5m2", "f8e4m3", "f32"))
SHAPES = {
    "wmma_accumulator": ((16, 16), (32, 8), (8, 32)),
    "mma_accumulator": ((16, 16), (16, 8)),
}
WARPS = ((1, 1), (2, 1), (1, 2), (2, 2))


def fragment_program(c: Choices) -> TileProgram:
    """C[i, j] = the sum over k of A[i, k] * B[k, j], with what comes before and after it."""
    memory = pick(c, tuple(SHAPES))
    a, b, t = pick(c, OF_MMA if memory[0] == "m" else TYPES)
    of_bytes = a.endswith("8") or a.startswith("f8")
    inputs, left, right = operands(c, a, b, 4 if of_bytes else 2)
    begun = pick(c, ("0", "0", "0", *BEGUN))
    begun = "2" if "A[" in begun and left == "A[k, i]" else begun
    finished = pick(c, ("{acc}", "{acc}", *FINISHED))
    where = " where " + pick(c, CONDITIONS) if chance(c, 10) else ""
    begun, finished, where = (
        x.format(i="i", j="j", k="k", t=t, acc="acc[i, j]") for x in (begun, finished, where)
    )
    factors = shuffled(c, (f"{t}({left})", f"{t}({right})"))
    found = TileProgram([
        *declared(inputs, t, begun + finished),
        f"output C: {t}[M, N]", "reduce k in K", f"acc: {t}[i, j] = {begun}",
        f"acc[i, j] += {' * '.join(factors)}{where}", f"C[i, j] = {finished}",
    ])  # fmt: skip
    depth = 32 if memory[0] == "m" and of_bytes else 16
    found.lines += _schedule(c, found, memory, pick(c, SHAPES[memory]), depth)
    return found


def _schedule(
    c: Choices, found: TileProgram, memory: str, shape: tuple[int, int], depth: int
) -> list[str]:
    """A fragment of sums a warp. Warps go through k together, or each alone; operands are staged in shared
    memory, by the block or by each warp, or not."""
    rows, columns = shape
    down, across = pick(c, WARPS)
    tail = pick(c, ("", ", tail = guard", ", tail = exact"))
    if "exact" in tail:
        found.divisible |= {"M": rows * down, "N": columns * across}
    tiles = f"tile(i, j, iw, jw, iv, jv, {rows}, {columns})"
    lines = [
        f"C.tile(i, j, io, jo, ii, ji, {rows * down}, {columns * across}{tail})",
        f"C.tile(ii, ji, iw, jw, iv, jv, {rows}, {columns}).gpu_blocks(io, jo).gpu_threads(iw, jw)",
        "C.vectorize(iv).vectorize(jv)",
    ]
    if chance(c, 50):
        lines += [
            f"acc.compute_at(C, jo).store_in({memory})",
            f"acc.{tiles}.gpu_threads(iw, jw).vectorize(iv).vectorize(jv)",
            f"acc.update.split(k, ko, kv, {depth}).{tiles}.reorder(ko, iw, jw, iv, jv, kv)",
            "acc.update.gpu_threads(iw, jw).atomic().vectorize(iv).vectorize(jv).vectorize(kv)",
        ]
    else:
        lines += [
            f"acc.compute_at(C, jw).store_in({memory}).vectorize(i, {rows}).vectorize(j, {columns})",
            f"acc.update.split(k, ko, kv, {depth}).reorder(ko, i, j, kv).atomic()",
            f"acc.update.vectorize(i, {rows}).vectorize(j, {columns}).vectorize(kv)",
        ]
    for name in "AB":
        if chance(c, 50):
            lines.append(f"{name}.in(acc).compute_at(acc.update, ko).store_in(shared)")
    return ["schedule s for cuda {", *(f"    {line}" for line in lines), "}"]
