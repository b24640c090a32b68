# Convolution of an image with T x T taps at every second row and column.
#
#     O[y, x] = sum over s, r < T of K[s, r] * I[2 y + s, 2 x + r]
#
# Written by phase: even columns meet the even taps of a row and odd columns the odd ones, so that
# neighbouring outputs read neighbouring values. The schedules separate the columns a strip at a time.

size   H, W, T
input  I: f32[2 * H + T - 2, 2 * W + T - 2]
input  K: f32[T, T]
output O: f32[H, W]

reduce s in T, e in (T + 1) / 2, o in T / 2
even[y, x] = I[y, 2 * x]
odd[y, x]  = I[y, 2 * x + 1]
acc[y, x]  = 0
acc[y, x] += K[s, 2 * e] * even[2 * y + s, x + e]
acc[y, x] += K[s, 2 * o + 1] * odd[2 * y + s, x + o]
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).parallel(yo)
    even.compute_at(O, yo)
    odd.compute_at(O, yo)
    acc.compute_at(O, xo)
    acc.update(0).reorder(s, e, y, x)
    acc.update(1).reorder(s, o, y, x)
}

# Strips of 32 rows; 4 rows of 4 vectors in registers. Rows of taps 2 apart share rows of the image.
schedule fast for avx512 {
    O.split(y, yo, yt, 32, tail = shift).tile(yt, x, y, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    even.compute_at(O, yo).vectorize(x, 16)
    odd.compute_at(O, yo).vectorize(x, 16)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update(0).reorder(s, e, y, x).vectorize(x, 16).unroll(x).unroll(y)
    acc.update(1).reorder(s, o, y, x).vectorize(x, 16).unroll(x).unroll(y)
    acc.update(0).specialize(T >= 8)
        .split(s, so, sp, 8).split(sp, si, sp, 2).reorder(so, sp, e, y, si, x).unroll(si)
    acc.update(1).specialize(T >= 8)
        .split(s, so, sp, 8).split(sp, si, sp, 2).reorder(so, sp, o, y, si, x).unroll(si)
}

schedule narrow for avx2 {
    O.split(y, yo, yt, 16, tail = shift).tile(yt, x, y, xo, yi, xi, 4, 16, tail = shift)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    even.compute_at(O, yo).vectorize(x, 8)
    odd.compute_at(O, yo).vectorize(x, 8)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    acc.update(0).reorder(s, e, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update(1).reorder(s, o, y, x).vectorize(x, 8).unroll(x).unroll(y)
    acc.update(0).specialize(T >= 4)
        .split(s, so, sp, 4).split(sp, si, sp, 2).reorder(so, sp, e, y, si, x).unroll(si)
    acc.update(1).specialize(T >= 4)
        .split(s, so, sp, 4).split(sp, si, sp, 2).reorder(so, sp, o, y, si, x).unroll(si)
}

example     { H = 1024; W = 1024; T = 16; I = random(1); K = random(2, -1, 1) }
example big { H = 1024; W = 1024; T = 32; I = random(1); K = random(2, -1, 1) }
