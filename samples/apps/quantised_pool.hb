# The mean, rounded, and the greatest of S x S bytes, at every S-th pixel.
size   N, H, W, C
param  S: i32 = 2
input  A: u8[N, S * H, S * W, C]
output mean: u8[N, H, W, C]
output most: u8[N, H, W, C]

reduce r in S, s in S
(total[n, y, x, c], top[n, y, x, c]) = (0, 0)
(total[n, y, x, c], top[n, y, x, c]) = (total[n, y, x, c] + u16(A[n, S * y + r, S * x + s, c]), max(top[n, y, x, c], A[n, S * y + r, S * x + s, c]))
(mean[n, y, x, c], most[n, y, x, c]) = (u8((total[n, y, x, c] + S * S / 2) / (S * S)), top[n, y, x, c])

schedule pixels for c, avx2, avx512, arm_dot {
    mean.split(c, co, ci, 32, tail = shift).reorder(n, y, x, co, ci).vectorize(ci).parallel(n)
    total.compute_at(mean, co).store_in(registers).vectorize(c, 32)
    total.update.reorder(n, y, x, r, s, c).vectorize(c, 32).unroll(r).unroll(s)
}

example { N = 1; H = 56; W = 56; C = 256; A = random(1) }
