# Broke: oracle: what is read where a condition is uncertain was not among what is needed.
# sizes: W=1 target: avx2 fixed: 0 seed: 0
size W
input A: f64[2 * W + 5, 2 * W + 5, 2 * W + 5]
output f1: f32[W, W, W]
reduce r1 in 3
reduce r2 in 1
f0[x, y, z] = f32(A[x + 1, x + 1, x + 1])
f0[x, y, z] += ((f32(A[x + 1, x + 1, x + 1]) + f32(A[x + 1, x + 1, x + 1])) + f32(r2))
f1[x, y, z] = f0[z, z, z]
f1[x, y, z] *= (f0[x, r1, z / 2] * (f0[3, 2 * y, z + r1] - f0[x - 1, W - 1 - y, z / 3])) where (f0[x + x, y, z] > f0[x, 3 * y, x])
