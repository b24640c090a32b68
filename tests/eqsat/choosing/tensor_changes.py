"""Changes to a program that is known to map, by name: each must map too, and be right.

Many are what a compiler that matches spellings gets wrong.
"""

from __future__ import annotations

Change = tuple[str, str]

# The schedule of 2 x 2 tiles, for the changes below.
BLOCKS: tuple[Change, ...] = (
    ("C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)",
     "C.tile(i, j, io, jo, ib, jb, 32, 32, tail = exact).tile(ib, jb, it, jt, ii, ji, 16, 16)"
     ".unroll(it).unroll(jt).vectorize(ii).vectorize(ji)"),
    ("store_in(amx_tile).vectorize(i).vectorize(j)",
     "store_in(amx_tile).tile(i, j, it, jt, ii, ji, 16, 16)"
     ".unroll(it).unroll(jt).vectorize(ii).vectorize(ji)"),
    (".reorder(ko, i, j, ki)",
     ".tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)"),
    (".atomic().vectorize(i).vectorize(j)", ".atomic().vectorize(ii).vectorize(ji)"),
)  # fmt: skip


def order(loops: str) -> Change:
    """Other orders of the loops of the update."""
    return (".reorder(ko, i, j, ki)", f".reorder({loops})")


FACTORS = "f32(A[i, k]) * f32(B[k, j])"
ONE = {"M": 32, "N": 48, "K": 96}

BF16_TILES: dict[str, tuple[Change, ...]] = {
    "row-major B": (),
    "transposed B": (("B: bf16[K, N]", "B: bf16[N, K]"), ("B[k, j]", "B[j, k]")),
    "transposed A": (("A: bf16[M, K]", "A: bf16[K, M]"), ("A[i, k]", "A[k, i]")),
    "both transposed": (
        ("B: bf16[K, N]", "B: bf16[N, K]"), ("B[k, j]", "B[j, k]"),
        ("A: bf16[M, K]", "A: bf16[K, M]"), ("A[i, k]", "A[k, i]"),
    ),
    "interleaved B": (("B: bf16[K, N]", "B: bf16[K / 2, N, 2]"), ("B[k, j]", "B[k / 2, j, k % 2]")),
    "interleaved otherwise": (
        ("B: bf16[K, N]", "B: bf16[K / 2, 2, N]"), ("B[k, j]", "B[k / 2, k % 2, j]"),
    ),
    "interleaved A": (("A: bf16[M, K]", "A: bf16[K / 2, M, 2]"), ("A[i, k]", "A[k / 2, i, k % 2]")),
    "two products in one update": (
        (FACTORS, f"{FACTORS} + f32(A[i, k]) * f32(D[k, j])"),
        ("output C", "input  D: bf16[K, N]\noutput C"),
    ),
    "K tile of 128": (("ki, 32", "ki, 128"),),
    "K tile of 8": (("ki, 32", "ki, 8"),),
    "2 x 2 tiles": BLOCKS,
    "operands swapped": ((FACTORS, "f32(B[k, j]) * f32(A[i, k])"),),
    "widened twice": ((FACTORS, "f32(f32(A[i, k])) * f32(B[k, j])"),),
    "a let": ((FACTORS, "let a = f32(A[i, k]) in a * f32(B[k, j])"),),
    "an inlined Func": (
        (FACTORS, "a[i, k] * f32(B[k, j])"), ("acc[i, j]  = 0", "a[y, x] = f32(A[y, x])\nacc[i, j]  = 0"),
    ),
    "a Func of products": (
        ("acc[i, j] += " + FACTORS, "acc[i, j] += p[i, j, k]"),
        ("acc[i, j]  = 0", "p[y, x, z] = f32(A[y, z]) * f32(B[z, x])\nacc[i, j]  = 0"),
    ),
    "the sum spelled out": (("acc[i, j] += ", "acc[i, j] = acc[i, j] + "),),
    "loops j, i, k": (order("ko, j, i, ki"),),
    "loops j, k, i": (order("ko, j, ki, i"),),
    "loops i, k, j": (order("ko, i, ki, j"),),
    "loops k, i, j": (order("ko, ki, i, j"),),
    "loops k, j, i": (order("ko, ki, j, i"),),
    "tiles 32 x 16": (("ji, 16, 16", "ji, 32, 16"),),
    "tiles 16 x 32": (("ji, 16, 16", "ji, 16, 32"),),
    "tiles 32 x 32": (("ji, 16, 16", "ji, 32, 32"),),
    "tiles 8 x 8": (("ji, 16, 16", "ji, 8, 8"),),
    "tiles 4 x 12": (("ji, 16, 16", "ji, 4, 12"),),
    "f16": (("bf16[M", "f16[M"), ("bf16[K", "f16[K")),
    "a constant inside the sum": ((FACTORS, FACTORS + " + 1"),),
    "a value inside the sum": (
        (FACTORS, FACTORS + " + D[i, j]"), ("output C", "input  D: f32[M, N]\noutput C"),
    ),
    "bias of columns as initial value": (
        ("acc[i, j]  = 0", "acc[i, j]  = bias[j]"), ("output C", "input  bias: f32[N]\noutput C"),
    ),
    "bias of rows as initial value": (
        ("acc[i, j]  = 0", "acc[i, j]  = bias[i]"), ("output C", "input  bias: f32[M]\noutput C"),
    ),
    "a matrix as initial value": (
        ("acc[i, j]  = 0", "acc[i, j]  = D[i, j]"), ("output C", "input  D: f32[M, N]\noutput C"),
    ),
    "a constant as initial value": (("acc[i, j]  = 0", "acc[i, j]  = 0.5"),),
    "ReLU in the consumer": (("C[i, j]    = acc[i, j]", "C[i, j]    = max(acc[i, j], 0)"),),
    "bias and ReLU in the consumer": (
        ("C[i, j]    = acc[i, j]", "C[i, j]    = max(acc[i, j] + bias[j], 0)"),
        ("output C", "input  bias: f32[N]\noutput C"),
    ),
    "rounded in the consumer": (
        ("C[i, j]    = acc[i, j]", "C[i, j]    = bf16(acc[i, j])"),
        ("C: f32", "C: bf16"),
    ),
    "transposed in the consumer": (
        ("C[i, j]    = acc[i, j]", "C[i, j]    = acc[j, i]"), ("f32[M, N]", "f32[N, M]"),
        ("ji, 16, 16", "ji, 16, 16"),
    ),
    "two products in one sum": (
        ("acc[i, j] += " + FACTORS,
         f"acc[i, j] += {FACTORS}\nacc[i, j] += f32(A[i, k]) * f32(D[k, j])"),
        ("output C", "input  D: bf16[K, N]\noutput C"),
        ("    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)\n",
         "    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)\n"
         "    acc.update(1).split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki)\n"
         "    acc.update(1).atomic().vectorize(i).vectorize(j).vectorize(ki)\n"),
    ),
    "a batch": (
        ("A: bf16[M, K]", "A: bf16[3, M, K]"), ("B: bf16[K, N]", "B: bf16[3, K, N]"),
        ("C: f32[M, N]", "C: f32[3, M, N]"), ("A[i, k]", "A[b, i, k]"), ("B[k, j]", "B[b, k, j]"),
        ("acc[i, j]", "acc[b, i, j]"), ("C[i, j]", "C[b, i, j]"),
    ),
    "two reductions": (
        ("reduce k in K", "reduce s in 3, k in K"), ("A: bf16[M, K]", "A: bf16[M, 3, K]"),
        ("B: bf16[K, N]", "B: bf16[3, K, N]"), ("A[i, k]", "A[i, s, k]"), ("B[k, j]", "B[s, k, j]"),
        order("s, ko, i, j, ki"),
    ),
    "computed whole": ((".compute_at(C, jo).store_in(amx_tile)", ".compute_at(C, jo).store_in(amx_tile)"),),
    "stored by columns": ((".store_in(amx_tile)", ".store_in(amx_tile).reorder_storage(j, i)"),),
}  # fmt: skip

BYTE_TILES: dict[str, tuple[Change, ...]] = {
    "u8 x i8": (),
    "i8 x i8": (("u8[M", "i8[M"),),
    "i8 x u8": (("u8[M", "i8[M"), (" i8[K", " u8[K")),
    "u8 x u8": ((" i8[K", " u8[K"),),
    "u8 x u8 in u32": (
        (" i8[K", " u8[K"), ("C: i32", "C: u32"),
        ("i32(A[i, k]) * i32(B[k, j])", "u32(A[i, k]) * u32(B[k, j])"),
    ),
    "interleaved B": (("B: i8[K, N]", "B: i8[K / 4, N, 4]"), ("B[k, j]", "B[k / 4, j, k % 4]")),
    "interleaved by two": (("B: i8[K, N]", "B: i8[K / 2, N, 2]"), ("B[k, j]", "B[k / 2, j, k % 2]")),
    # Products that the narrower type holds for all values of the operands.
    "widened after the product": (("i32(A[i, k]) * i32(B[k, j])", "i32(i16(A[i, k]) * i16(B[k, j]))"),),
    "widened after a product in u16": (
        (" i8[K", " u8[K"), ("i32(A[i, k]) * i32(B[k, j])", "i32(u16(A[i, k]) * u16(B[k, j]))"),
    ),
    # The values of u8 as i8 are other numbers: they are converted, not taken for such.
    "an operand of another sign": (("i32(A[i, k])", "i32(i8(A[i, k]))"),),
    "widened in two steps": (("i32(A[i, k])", "i32(i16(A[i, k]))"),),
    "a constant inside the sum": (("i32(B[k, j])", "i32(B[k, j]) + 1"),),
    "K tile of 128": (("ki, 64", "ki, 128"),),
    "K tile of 12": (("ki, 64", "ki, 12"),),
    "scaled and rounded to bytes": (
        ("C[i, j]    = acc[i, j]", "C[i, j]    = u8(clamp((acc[i, j] + bias[j]) >> 5, 0, 255))"),
        ("C: i32", "C: u8"), ("output C", "input  bias: i32[N]\noutput C"),
    ),
}  # fmt: skip
BYTE_SIZES = {"K tile of 128": 256, "K tile of 12": 24}
