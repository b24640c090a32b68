# Broke: a load of which the last lane alone may be live began before the array.
# sizes: W=1 H=5 K=13 target: avx512bf16 fixed: 1 seed: 6
size W, H, K
input A: bf16[K + 2 * W]
output f2: f32[W, W]
require 5 <= H, "too small"
PA = mirror(A)
reduce r1 in K
reduce r2 in 32
reduce r3 in 2
reduce r4 in 4
f0: f32[x, y] = 0
f0[x, y] += (let q5 = r3 in (f32(3.25) + 100.0))
f1[x, y] = log(round(f0[x, 0]))
f1[x, y] += f32(PA[r2 / 3]) * f32(PA[r2])
f2: f32[x, y] = select((bf16(-1.5) != bf16(y)), f0[x, y], f32(A[x + y]))
f2[x, y] += f1[x / 3, W - 1 - y] * f32(A[K - 1 - r1])
schedule s for avx512bf16 {
    f2.update.atomic().vectorize(r1, 16).vectorize(y, 8, tail = mask).reorder(x, y, r1, y_v, r1_v)
    f1.prefetch(f0, y, 2, L1).split(x, xo1, xi2, 2, tail = shift)
    f1.update.split(x, xo3, xi4, 3)
    f0.pipeline(y, 4)
    f0.update.pipeline(r3, 4).split(x, xo5, xi6, 3)
}
