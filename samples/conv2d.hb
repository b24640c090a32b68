# Convolution of an image with T x T taps that need not be separable.
#
#     O[y, x] = sum over s, r < T of K[s, r] * I[y + s, x + r]
#
# The fast schedule holds 4 rows of 4 vectors and unrolls 4 rows of taps: 7 rows of the image are
# loaded for 4 x 4 row products.

type   TI = f32
type   TK = f32
type   TO = f32
size   H, W, T
input  I: TI[H + T - 1, W + T - 1]
input  K: TK[T, T]
output O: TO[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += TO(K[s, r]) * TO(I[y + s, x + r])
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).parallel(yo)
    acc.compute_at(O, xo)
    acc.update.reorder(s, r, y, x)
}

# For bf16 (--set TI=bf16 --set TK=bf16) and bytes (TI=u8, TK=i8, TO=i32): vectors of 2 x 8 outputs.
# Along x their windows of the image overlap: one load and one shuffle make those of a vector, which
# serve further taps of the vectors beside it. Along y the taps are a banded matrix, made once.
schedule dot for avx512vnni, avx512bf16 {
    O.tile(y, x, yo, xo, yi, xi, 2, 128, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T % 32 == 0).split(s, so, si, 32).split(r, ro, ri, 32).split(x, x, xi, 8)
        .reorder(so, ro, x, y, xi, si, ri).atomic().vectorize(ri).vectorize(si).vectorize(xi).vectorize(y, 2).unroll(x)
    acc.update.specialize(T % 16 == 0).split(s, so, si, 16).split(r, ro, ri, 16).split(x, x, xi, 8)
        .reorder(so, ro, x, y, xi, si, ri).atomic().vectorize(ri).vectorize(si).vectorize(xi).vectorize(y, 2).unroll(x)
    acc.update.reorder(s, r, y, x).vectorize(x, 16).unroll(x).unroll(y)
}

# On tiles: 256 outputs of a row are one of 16 x 16, each row of taps is a banded matrix, made once and loaded
# once for two rows.
schedule tiles for amx {
    O.specialize(W >= 256 and H >= 16).split(y, ys, yb, 16, tail = shift)
        .tile(yb, x, yo, xo, yi, xi, 2, 256, tail = shift).vectorize(yi).vectorize(xi).parallel(ys)
    O.split(y, ys, yb, 1).tile(yb, x, yo, xo, yi, xi, 1, 16, tail = shift)
        .vectorize(yi).vectorize(xi).parallel(ys)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x).vectorize(y)
    acc.update.specialize(T % 32 == 0).split(r, ro, ri, 32).reorder(s, ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
    acc.update.split(r, ro, ri, 16).reorder(s, ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
}

schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(s, r, y, x).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T >= 4).split(s, so, si, 4).reorder(so, r, y, x, si).unroll(si)
}

schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, 4, 16, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(s, r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 2).split(s, so, si, 2).reorder(so, r, y, si, x).unroll(si)
}

example { H = 2048; W = 2048; T = 16; I = random(1); K = random(2, -1, 1) }
example big { H = 2048; W = 2048; T = 32; I = random(1); K = random(2, -1, 1) }
