# Convolution of every row of a byte image with one row of T signed bytes, summed in 32 bits.
#
#     O[y, x] = sum over r < T of i32(K[r]) * i32(I[y, x + r])
#
# `image` and `taps` are the operands as i32; the schedules convert each row once.

size   H, W, T
input  I: u8[H, W + T - 1]
input  K: i8[T]
output O: i32[H, W]

reduce r in T
image[y, x] = i32(I[y, x])
taps[t]     = i32(K[t])
acc[y, x]   = 0
acc[y, x]  += taps[r] * image[y, x + r]
O[y, x]     = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 2, 64).parallel(yo)
    taps.compute_root()
    image.compute_at(O, yo)
    acc.compute_at(O, xo)
    acc.update.reorder(r, y, x)
}

# The windows of 16 outputs overlap: a load and two shuffles make them, which serve further taps of
# the vectors beside them.
schedule dot for avx512vnni {
    O.tile(y, x, yo, xo, yi, xi, 1, 256, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T % 64 == 0).split(r, ro, ri, 64).reorder(ro, y, x, ri)
        .atomic().vectorize(ri).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.split(r, ro, ri, 32).reorder(ro, y, x, ri)
        .atomic().vectorize(ri).vectorize(x, 16).unroll(x).unroll(y)
}

# 256 outputs of a row are a tile of 16 x 16, the taps a banded matrix, made once and loaded once for two
# rows. Narrow images have tiles of one row.
schedule tiles for amx {
    O.specialize(W >= 256 and H >= 2).tile(y, x, yo, xo, yi, xi, 2, 256, tail = shift)
        .vectorize(yi).vectorize(xi).parallel(yo)
    O.specialize(W >= 256).tile(y, x, yo, xo, yi, xi, 1, 256, tail = shift)
        .vectorize(yi).vectorize(xi).parallel(yo)
    O.tile(y, x, yo, xo, yi, xi, 1, 16, tail = shift)
        .vectorize(yi).vectorize(xi).parallel(yo)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(x).vectorize(y)
    acc.update.specialize(T % 256 == 0).split(r, ro, ri, 256).reorder(ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
    acc.update.specialize(T % 64 == 0).split(r, ro, ri, 64).reorder(ro, y, x, ri)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
    acc.update.split(r, ro, ri, 32).reorder(ro, y, x, ri).atomic().vectorize(y).vectorize(x).vectorize(ri)
}

schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 1, 128, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    taps.compute_root()
    image.compute_at(O, yo).vectorize(x, 16)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 32)
        .split(r, ro, rt, 32).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.specialize(T >= 16)
        .split(r, ro, rt, 16).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 8)
}

schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, 1, 80, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    taps.compute_root()
    image.compute_at(O, yo).vectorize(x, 8)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 16)
        .split(r, ro, rt, 16).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 4)
}

example { H = 4096; W = 4096; T = 32; I = random(1); K = random(2) }
example long { H = 4096; W = 4096; T = 256; I = random(1); K = random(2) }
