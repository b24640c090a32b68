# Convolution of every row of an image with one row of T taps.
#
#     O[y, x] = sum over r < T of K[r] * I[y, x + r]
#
# The fast schedule holds 2 rows of 8 vectors. With many taps, four taps 16 apart are unrolled together:
# they share 11 loads of the image for 32 multiply-adds, where one tap alone needs a load for each.

size   H, W, T
input  I: f32[H, W + T - 1]
input  K: f32[T]
output O: f32[H, W]

reduce r in T
acc[y, x]  = 0
acc[y, x] += K[r] * I[y, x + r]
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 2, 64).parallel(yo)
    acc.compute_at(O, xo)
    acc.update.reorder(r, y, x)
}

schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 2, 128, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T >= 64)
        .split(r, ro, rt, 64).split(rt, rq, ri, 16).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.specialize(T >= 32)
        .split(r, ro, rt, 32).split(rt, rq, ri, 16).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 8)
}

# 8 accumulators, up to 5 loads of the image and the taps in 16 registers.
schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, 2, 32, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 16)
        .split(r, ro, rt, 16).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 4)
}

example      { H = 4096; W = 4096; T = 32;  I = random(1); K = random(2, -1, 1) }
example long { H = 4096; W = 4096; T = 256; I = random(1); K = random(2, -1, 1) }
