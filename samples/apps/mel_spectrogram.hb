# What speech recognisers hear: the power of windows of a sound at B frequencies of equal distance in pitch (mel), as logarithms.
import "std/complex.hb"

size   M
param  L: i32 = 9
param  hop: i32 = 160
param  B: i32 = 40
param  rate: f32 = 16000
input  A: f32[(M - 1) * hop + (1 << L)]
output O: f32[M, B]
require 1 <= M and 2 <= L

def mel(f)    = 1127.01048 * log(1 + f / 700)
def centre(b) = 700 * (exp(mel(rate / 2) * f32(b) / f32(B + 1) / 1127.01048) - 1)
table window: f32[1 << L] [t] = 0.5 - 0.5 * cos(2 * pi * f32(t) / f32(1 << L))
table weight: f32[(1 << (L - 1)) + 1, B] [k, b] = let f = f32(k) * rate / f32(1 << L) in
    max(min((f - centre(b)) / (centre(b + 1) - centre(b)), (centre(b + 2) - f) / (centre(b + 2) - centre(b + 1))), 0)

(u[0][m, k, q], v[0][m, k, q]) = (window[q] * A[m * hop + q], 0.0)
for s in 1 .. L + 1 {
    (c[s][h], d[s][h]) = expi(-2 * pi * f32(h) / f32(1 << s))
    (e[s][m, h, q], f[s][m, h, q]) = cmul((c[s][h], d[s][h]), (u[s - 1][m, h, q + (1 << (L - s))], v[s - 1][m, h, q + (1 << (L - s))]))
    (p[s][m, j, h, q], n[s][m, j, h, q]) = select(j == 0, cadd((u[s - 1][m, h, q], v[s - 1][m, h, q]), (e[s][m, h, q], f[s][m, h, q])),
        csub((u[s - 1][m, h, q], v[s - 1][m, h, q]), (e[s][m, h, q], f[s][m, h, q])))
    (u[s][m, k, q], v[s][m, k, q]) = (p[s][m, k / (1 << (s - 1)), k % (1 << (s - 1)), q], n[s][m, k / (1 << (s - 1)), k % (1 << (s - 1)), q])
}
power[m, k] = norm2((u[L][m, k, 0], v[L][m, k, 0]))
O[m, b]     = log(max(sum(k in 0 .. (1 << (L - 1)) + 1: weight[k, b] * power[m, k]), 1e-10))

schedule rows for c, avx2, avx512, arm_dot {
    O.split(m, mo, mi, 8, tail = shift).parallel(mo).vectorize(b, 16)
    c.compute_root().vectorize(h, 16)
    p.compute_at(power, m).unroll(j)
    p[1 .. L / 2 + 1].reorder(h, q, j).vectorize(q, 16)
    u[L / 2].compute_at(power, m).reorder_storage(m, q, k).vectorize(q, 16).reorder(q, k).unroll(k, 16)
    p[L / 2 + 1 ..].reorder_storage(m, q, j, h).reorder(q, h, j).vectorize(h, 16)
    power.compute_at(O, mo).vectorize(k, 16)
    O_sum.compute_at(O, mo).store_in(registers).vectorize(b, 16).unroll(b).unroll(m)
    O_sum.update.reorder(k, m, b).vectorize(b, 16).unroll(b).unroll(m)
}

example { M = 100; A = random(1, -1, 1) }
