"""One product for tiles and one for vector registers, and what each test changes in them."""

from __future__ import annotations

PRODUCT = """
size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
"""

TILES = (
    PRODUCT
    + """
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
"""
)

LANES = (
    PRODUCT
    + """
schedule lanes for avx512bf16 {
    C.tile(i, j, io, jo, ii, ji, 3, 32, tail = shift).vectorize(ji, 16).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 2).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 16).vectorize(ki).unroll(i).unroll(j)
}
"""
)

CONVOLUTION = """
size   H, W, T
input  I: bf16[H, W + T - 1]
input  K: bf16[T]
output O: f32[H, W]
reduce r in T
acc[y, x]  = 0
acc[y, x] += f32(K[r]) * f32(I[y, x + r])
O[y, x]    = acc[y, x]
"""

CONVOLUTION_TILES = (
    CONVOLUTION
    + """
schedule tiles for amx {
    O.split(x, xo, xi, 256, tail = exact).vectorize(xi)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x)
    acc.update.split(r, ro, ri, 16, tail = exact).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}
"""
)

CONVOLUTION_LANES = (
    CONVOLUTION
    + """
schedule lanes for avx512bf16 {
    O.split(x, xo, xi, 64, tail = shift).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update.split(r, ro, ri, 2).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x, 16).vectorize(ri).unroll(x)
}
"""
)

# Bytes instead of bf16: changes for a program above. The group of an instruction is four bytes.
BYTES = (
    ("bf16[M", "u8[M"), ("bf16[K", "i8[K"), ("f32[M", "i32[M"), ("f32(", "i32("),
    ("ki, 32", "ki, 64"), ("ki, 2)", "ki, 4)"), ("avx512bf16", "avx512vnni"),
)  # fmt: skip
IMAGE_BYTES = (
    ("bf16[H", "u8[H"), ("bf16[T", "i8[T"), ("f32[H", "i32[H"), ("f32(", "i32("),
    ("ri, 2)", "ri, 4)"), ("avx512bf16", "avx512vnni"),
)  # fmt: skip


def changed(text: str, *changes: tuple[str, str]) -> str:
    """The text with each old part replaced. One that does not occur is a mistake of the test."""
    for old, new in changes:
        assert old in text, f"`{old}` is not in the program"
        text = text.replace(old, new)
    return text


def in_bytes(text: str) -> str:
    """A program above with u8 and i8 operands and sums in i32."""
    changes = IMAGE_BYTES if "bf16[H" in text else BYTES
    return changed(text, *((old, new) for old, new in changes if old in text))
