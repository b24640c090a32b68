"""Random matrix products with sums in fragments of tensor cores: shapes, warps, staging, epilogues."""

from __future__ import annotations

from random import Random

from case import Case

PRODUCTS = (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("s8", "i32"), ("u8", "i32"))
SIZES = (1, 2, 5, 8, 13, 16, 17, 24, 31, 32, 33, 40)


def random_fragments(seed: int) -> Case:
    """A product of matrices at random sizes."""
    r = Random(seed)
    factor, total = r.choice(PRODUCTS)
    factor = {"s8": "i8"}.get(factor, factor)
    by_columns = r.random() < 0.3, r.random() < 0.3
    a, b = ("A[k, i]" if by_columns[0] else "A[i, k]"), ("B[j, k]" if by_columns[1] else "B[k, j]")
    bias = r.random() < 0.4
    lines = [
        "size M, N, K",
        f"input A: {factor}[{'K, M' if by_columns[0] else 'M, K'}]",
        f"input B: {factor}[{'N, K' if by_columns[1] else 'K, N'}]",
        *([f"input D: {total}[N]"] if bias else []),
        f"output C: {total}[M, N]",
        "reduce k in K",
        f"acc[i, j] = {'D[j]' if bias else '0'}",
        f"acc[i, j] += {total}({a}) * {total}({b})",
        f"C[i, j] = {r.choice(['acc[i, j]', 'max(acc[i, j], 0)', 'acc[i, j] + acc[i, j]'])}",
        "schedule s for cuda {",
        *(f"    {line}" for line in _schedule(r, bias)),
        "}",
    ]
    sizes = {n: r.choice(SIZES) for n in "MNK"}
    return Case("\n".join(lines), (sizes,), "cuda", r.random() < 0.15, seed % 12)


def _schedule(r: Random, bias: bool) -> list[str]:
    """Warps side by side, each with some fragments; the sums of a block or of a warp."""
    warps = r.choice([1, 2]), r.choice([1, 2])
    each = r.choice([1, 2]), r.choice([1, 2])
    high, wide = 16 * each[0], 16 * each[1]
    deep, tail = r.choice([16, 32]), r.choice(["mask", "mask", "guard"])
    of_block = r.random() < 0.7
    fragments = ".unroll(it).unroll(jt).vectorize(iv).vectorize(jv)"
    lines = [
        f"C.tile(i, j, io, jo, ii, ji, {high * warps[0]}, {wide * warps[1]}, tail = {tail})",
        f"C.tile(ii, ji, iw, jw, iu, ju, {high}, {wide}).gpu_blocks(io, jo).gpu_threads(iw, jw)",
        f"C.tile(iu, ju, it, jt, iv, jv, 16, 16){fragments}",
        f"acc.compute_at(C, {'jo' if of_block else 'jw'}).store_in(wmma_accumulator)",
    ]
    cut = "tile(i, j, it, jt, iv, jv, 16, 16)"
    shared_out = ""
    if of_block:
        shared_out = f"tile(i, j, iw, jw, iu, ju, {high}, {wide})."
        cut, warp = "tile(iu, ju, it, jt, iv, jv, 16, 16)", ".gpu_threads(iw, jw)"
        order = "ko, iw, jw, kt, it, jt, iv, jv, kv"
    else:
        warp, order = "", "ko, kt, it, jt, iv, jv, kv"
    lines += [
        f"acc.{shared_out}{cut}{warp}{fragments}",
        f"acc.update.split(k, ko, ki, {deep}).split(ki, kt, kv, 16).{shared_out}{cut}",
        f"acc.update.reorder({order}){warp}.unroll(kt){fragments}.atomic().vectorize(kv)",
    ]
    if of_block:
        staged = [x for x in "AB" if r.random() < 0.75]
        lines += [f"{x}.in(acc).compute_at(acc.update, ko).store_in(shared)" for x in staged]
        if bias and r.random() < 0.6:
            lines.append("D.in(acc).compute_at(C, jo)")
    return lines
