# The discrete Fourier transforms of M rows of 2^L complex numbers, (re, im) as planes: step s makes transforms of length 2^s
# out of those of every second element, (u, v): frequency h, and h + 2^(s - 1) in the second half.
import "std/complex.hb"

size   M
param  L: i32 = 8
input  A: f32[2, M, 1 << L]
output O: f32[2, M, 1 << L]
require 2 <= L

(u[0][m, k, q], v[0][m, k, q]) = (A[0, m, q], A[1, m, q])
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

example { M = 64; A = random(1, -1, 1) }
