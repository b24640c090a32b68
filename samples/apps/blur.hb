# The mean of 3 x 3 pixels, rows first: Halide's first example. In 16 bits, so pixels have 14 at most: of three above 21,845 the sum wraps.
size   H, W
input  A: u16[H + 2, W + 2]
output O: u16[H, W]

rows[y, x] = (A[y, x] + A[y, x + 1] + A[y, x + 2]) / 3
O[y, x]    = (rows[y, x] + rows[y + 1, x] + rows[y + 2, x]) / 3

schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32).vectorize(x, 32).parallel(yo)
    rows.store_at(O, yo).compute_at(O, yi).vectorize(x, 32)
}

example { W = 1536; H = 1024; A = random(1, 0, 16384) }
