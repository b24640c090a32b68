# The short-time Fourier transform: M windows (Hann's) of 2^L samples, `hop` apart, as (re, im) of the frequencies
# 0 .. 2^(L - 1). Step s makes transforms of length 2^s out of those of every second sample.
import "std/complex.hb"

size   M
param  L: i32 = 9
param  hop: i32 = 128
input  A: f32[(M - 1) * hop + (1 << L)]
output O: f32[2, M, (1 << (L - 1)) + 1]
require 1 <= M

table window: f32[1 << L] [t] = 0.5 - 0.5 * cos(2 * pi * f32(t) / f32(1 << L))

(p[0][m, k, q], n[0][m, k, q]) = (window[q] * A[m * hop + q], 0.0)
for s in 1 .. L + 1 {
    (c[s][k], d[s][k]) = expi(-2 * pi * f32(k) / f32(1 << s))
    (p[s][m, k, q], n[s][m, k, q]) = let h = k % (1 << (s - 1)) in cadd((p[s - 1][m, h, q], n[s - 1][m, h, q]),
        cmul((c[s][k], d[s][k]), (p[s - 1][m, h, q + (1 << (L - s))], n[s - 1][m, h, q + (1 << (L - s))])))
}
O[r, m, k] = select(r == 0, p[L][m, k, 0], n[L][m, k, 0])

schedule rows for c, avx2, avx512, arm_dot {
    O.parallel(m).reorder(m, r, k)
    c.compute_root()
    p.compute_at(O, m)
}

example { M = 120; A = random(1, -1, 1) }
