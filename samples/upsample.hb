# An image twice as high and wide: each output takes every second tap of a T x T kernel.
#
#     O[y, x] = sum over s, r of K[2 s + y % 2, 2 r + x % 2] * I[y / 2 + s, x / 2 + r]
#
# Polyphase: the four phases (p, q) = (y % 2, x % 2) are four small convolutions of the same image,
# interleaved when they are stored. Taps beyond the kernel (T odd) count as 0.

size   H, W, T
input  I: f32[(H + 1) / 2 + (T - 1) / 2, (W + 1) / 2 + (T - 1) / 2]
input  K: f32[T, T]
output O: f32[H, W]

reduce s in (T + 1) / 2, r in (T + 1) / 2
taps[i, j, p, q]   = zero_edge(K)[2 * i + p, 2 * j + q]
phase[y, x, p, q]  = 0
phase[y, x, p, q] += taps[s, r, p, q] * I[y + s, x + r]
O[y, x]            = phase[y / 2, x / 2, y % 2, x % 2]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 64).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.update.reorder(s, r, y, p, q, x)
}

# 2 rows of 2 vectors for each of the four phases. 4 rows of taps are unrolled together: 10 loads of
# the image serve 64 multiply-adds.
schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64)
    O.vectorize(xi, 32).unroll(xi).unroll(yi).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.bound(p, 0, 2).bound(q, 0, 2)
    phase.vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.reorder(s, r, y, p, q, x).vectorize(x, 16).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.specialize(T >= 8).split(s, so, si, 4).reorder(so, r, si, y, p, q, x).unroll(si)
}

schedule narrow for avx2 {
    O.tile(y, x, yo, xo, yi, xi, 4, 16)
    O.vectorize(xi, 16).unroll(yi).parallel(yo)
    taps.compute_root()
    phase.compute_at(O, xo).reorder(y, p, q, x).reorder_storage(y, p, q, x)
    phase.bound(p, 0, 2).bound(q, 0, 2)
    phase.vectorize(x, 8).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.reorder(s, r, y, p, q, x).vectorize(x, 8).unroll(x).unroll(y).unroll(p).unroll(q)
    phase.update.specialize(T >= 4).split(s, so, si, 2).reorder(so, r, si, y, p, q, x).unroll(si)
}

example     { H = 2048; W = 2048; T = 16; I = random(1); K = random(2, -1, 1) }
example big { H = 2048; W = 2048; T = 32; I = random(1); K = random(2, -1, 1) }
