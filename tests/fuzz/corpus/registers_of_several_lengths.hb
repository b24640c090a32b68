# Broke: sums of a block and of its tail, both in registers as arrays: all were declared as long as the last.
# sizes: W=64 | W=70 target: avx512 fixed: 0 seed: 0
size W
input A: f32[20, W]
output f1: f32[13, W]
reduce r in 8
f0[y, x] = 0
f0[y, x] += A[y + r, x]
f1[y, x] = f0[y, x]
schedule s for avx512 {
    f1.split(y, yo, yi, 4).split(x, xo, xi, 64, tail = shift).reorder(yo, xo, yi, xi)
    f1.vectorize(xi, 16).unroll(xi).unroll(yi)
    f0.compute_at(f1, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    f0.update.reorder(r, y, x).vectorize(x, 16).unroll(x).unroll(y)
}
