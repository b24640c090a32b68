# Convolution of every row of an image with one row of T taps.
#
#     O[y, x] = sum over r < T of K[r] * I[y, x + r]
#
# Neighbouring outputs read neighbouring values, so nearly every load crosses a cache line and costs
# two. Taps a vector's length apart read the same vectors: unrolled together, 4 taps for 16 vectors
# of outputs need 19 loads for 64 multiply-adds.

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

# Vectors of 8: two of them cost an AMD core as much as one of 16, and taps 8 apart make 16 taps
# enough for sharing.
schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 1, 128, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 32)
        .split(r, ro, rt, 32).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.specialize(T >= 16)
        .split(r, ro, rt, 16).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 8)
}

# For cores whose two multiply-add units both take vectors of 16; hbc takes it there.
schedule wide for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 1, 256, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T >= 64)
        .split(r, ro, rt, 64).split(rt, rq, ri, 16).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.specialize(T >= 32)
        .split(r, ro, rt, 32).split(rt, rq, ri, 16).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 8)
}

# 10 sums, 2 taps and what is loaded of the image in 16 registers.
schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, 1, 80, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.reorder(r, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update.specialize(T >= 16)
        .split(r, ro, rt, 16).split(rt, rq, ri, 8).reorder(ro, ri, y, x, rq).unroll(rq)
    acc.update.unroll(r, 4)
}

example      { H = 4096; W = 4096; T = 32;  I = random(1); K = random(2, -1, 1) }
example long { H = 4096; W = 4096; T = 256; I = random(1); K = random(2, -1, 1) }
