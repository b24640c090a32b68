# Convolution of a bf16 image with T x T taps at every second row and column, summed in f32.
#
#     O[y, x] = sum over s, r < T of f32(K[s, r]) * f32(I[2 y + s, 2 x + r])
#
# As it stands: dot products take neighbouring columns together, which need not be separated as in
# `downsample`. Bytes: --set TI=u8 --set TK=i8 --set TO=i32.

type   TI = bf16
type   TK = bf16
type   TO = f32
size   H, W, T
input  I: TI[2 * H + T - 2, 2 * W + T - 2]
input  K: TK[T, T]
output O: TO[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += TO(K[s, r]) * TO(I[2 * y + s, 2 * x + r])
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).parallel(yo)
    acc.compute_at(O, xo)
    acc.update.reorder(s, r, y, x)
}

# Lane x takes neighbours from 2 x on: two, which lie as they are wanted, or four bytes. Rows of taps
# 2 apart share rows of the image.
schedule dot for avx512bf16 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.split(r, ro, ri, 2).atomic().vectorize(ri).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(s, ro, y, x, ri)
    acc.update.specialize(T >= 8)
        .split(s, so, sp, 8).split(sp, si, sp, 2).reorder(so, sp, ro, y, si, x, ri).unroll(si)
}

schedule dot_bytes for avx512vnni {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.split(r, ro, ri, 4).atomic().vectorize(ri).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(s, ro, y, x, ri)
    acc.update.specialize(T >= 8)
        .split(s, so, sp, 8).split(sp, si, sp, 2).reorder(so, sp, ro, y, si, x, ri).unroll(si)
}

# On tiles: 256 outputs of a row are one of 16 x 16, each row of taps is a banded matrix, made once and loaded
# once for two rows.
schedule tiles for amx {
    O.specialize(W >= 256 and H >= 2).tile(y, x, yo, xo, yi, xi, 2, 256, tail = shift)
        .vectorize(yi).vectorize(xi).parallel(yo)
    O.tile(y, x, yo, xo, yi, xi, 1, 16, tail = shift).vectorize(yi).vectorize(xi).parallel(yo)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x).vectorize(y)
    acc.update.specialize(T % 32 == 0).split(r, ro, ri, 32).reorder(s, ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
    acc.update.specialize(T % 16 == 0).split(r, ro, ri, 16).reorder(s, ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
    acc.update.split(r, ro, ri, 16).reorder(s, ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
}

schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(s, r, y, x).vectorize(x, 16).unroll(x).unroll(y)
}

example { H = 1024; W = 1024; T = 16; I = random(1, -1, 1); K = random(2, -1, 1) }
example big { H = 1024; W = 1024; T = 32; I = random(1, -1, 1); K = random(2, -1, 1) }
