# Convolution of an image with T x T taps that need not be separable.
#
#     O[y, x] = sum over s, r < T of K[s, r] * I[y + s, x + r]
#
# The fast schedule holds 4 rows of 4 vectors and unrolls 4 rows of taps: 7 rows of the image are
# loaded for 4 x 4 row products.

size   H, W, T
input  I: f32[H + T - 1, W + T - 1]
input  K: f32[T, T]
output O: f32[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += K[s, r] * I[y + s, x + r]
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).parallel(yo)
    acc.compute_at(O, xo)
    acc.update.reorder(s, r, y, x)
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

example     { H = 2048; W = 2048; T = 16; I = random(1); K = random(2, -1, 1) }
example big { H = 2048; W = 2048; T = 32; I = random(1); K = random(2, -1, 1) }
