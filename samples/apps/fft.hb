# The discrete Fourier transforms of M rows of 2^L complex numbers, (re, im) as planes: step s makes transforms of length 2^s
# out of those of every second element.
import "std/complex.hb"

size   M
param  L: i32 = 8
input  A: f32[2, M, 1 << L]
output O: f32[2, M, 1 << L]

(p[0][m, k, q], n[0][m, k, q]) = (A[0, m, q], A[1, m, q])
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

example { M = 64; A = random(1, -1, 1) }
