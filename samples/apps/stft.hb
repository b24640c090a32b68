# The short-time Fourier transform: M windows (Hann's) of 2^L samples, `hop` apart, as (re, im) of the frequencies
# 0 .. 2^(L - 1). Step s makes transforms of length 2^s out of those of every second sample: frequency h, and h + 2^(s - 1) in the second half.
import "std/complex.hb"

size   M
param  L: i32 = 9
param  hop: i32 = 128
input  A: f32[(M - 1) * hop + (1 << L)]
output O: f32[2, M, (1 << (L - 1)) + 1]
require 1 <= M and 2 <= L

table window: f32[1 << L] [t] = 0.5 - 0.5 * cos(2 * pi * f32(t) / f32(1 << L))

(u[0][m, k, q], v[0][m, k, q]) = (window[q] * A[m * hop + q], 0.0)
for s in 1 .. L + 1 {
    (c[s][h], d[s][h]) = expi(-2 * pi * f32(h) / f32(1 << s))
    (a[s][m, h, q], b[s][m, h, q]) = cmul((c[s][h], d[s][h]), (u[s - 1][m, h, q + (1 << (L - s))], v[s - 1][m, h, q + (1 << (L - s))]))
    (p[s][m, j, h, q], n[s][m, j, h, q]) = select(j == 0, cadd((u[s - 1][m, h, q], v[s - 1][m, h, q]), (a[s][m, h, q], b[s][m, h, q])),
        csub((u[s - 1][m, h, q], v[s - 1][m, h, q]), (a[s][m, h, q], b[s][m, h, q])))
    (u[s][m, k, q], v[s][m, k, q]) = (p[s][m, k / (1 << (s - 1)), k % (1 << (s - 1)), q], n[s][m, k / (1 << (s - 1)), k % (1 << (s - 1)), q])
}
O[r, m, k] = select(r == 0, u[L][m, k, 0], v[L][m, k, 0])

schedule rows for c, avx2, avx512, arm_dot {
    O.parallel(m).reorder(m, r, k).unroll(r).vectorize(k, 16)
    c.compute_root().vectorize(h, 16)
    p.compute_at(O, m).unroll(j)
    p[1 .. L / 2 + 1].reorder(h, q, j).vectorize(q, 16)
    u[L / 2].compute_at(O, m).reorder_storage(m, q, k).vectorize(q, 16).reorder(q, k).unroll(k, 16)
    p[L / 2 + 1 ..].reorder_storage(m, q, j, h).reorder(q, h, j).vectorize(h, 16)
}

example { M = 120; A = random(1, -1, 1) }
