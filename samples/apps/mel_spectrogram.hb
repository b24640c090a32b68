# What speech recognisers hear: the power of windows of a sound at B frequencies of equal distance in pitch (mel), as logarithms.
import "std/complex.hb"

size   M
param  L: i32 = 9
param  hop: i32 = 160
param  B: i32 = 40
param  rate: f32 = 16000
input  A: f32[(M - 1) * hop + (1 << L)]
output O: f32[M, B]
require 1 <= M

def mel(f)    = 1127.01048 * log(1 + f / 700)
def centre(b) = 700 * (exp(mel(rate / 2) * f32(b) / f32(B + 1) / 1127.01048) - 1)
table window: f32[1 << L] [t] = 0.5 - 0.5 * cos(2 * pi * f32(t) / f32(1 << L))
table weight: f32[(1 << (L - 1)) + 1, B] [k, b] = let f = f32(k) * rate / f32(1 << L) in
    max(min((f - centre(b)) / (centre(b + 1) - centre(b)), (centre(b + 2) - f) / (centre(b + 2) - centre(b + 1))), 0)

(p[0][m, k, q], n[0][m, k, q]) = (window[q] * A[m * hop + q], 0.0)
for s in 1 .. L + 1 {
    (c[s][k], d[s][k]) = expi(-2 * pi * f32(k) / f32(1 << s))
    (p[s][m, k, q], n[s][m, k, q]) = let h = k % (1 << (s - 1)) in cadd((p[s - 1][m, h, q], n[s - 1][m, h, q]),
        cmul((c[s][k], d[s][k]), (p[s - 1][m, h, q + (1 << (L - s))], n[s - 1][m, h, q + (1 << (L - s))])))
}
power[m, k] = norm2((p[L][m, k, 0], n[L][m, k, 0]))
O[m, b]     = log(max(sum(k in 0 .. (1 << (L - 1)) + 1: weight[k, b] * power[m, k]), 1e-10))

schedule rows for c, avx2, avx512, arm_dot {
    O.parallel(m)
    c.compute_root()
    p.compute_at(O, m)
    power.compute_at(O, m)
    O_sum.compute_at(O, m)
}

example { M = 100; A = random(1, -1, 1) }
