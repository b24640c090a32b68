# Broke: the oracle took a condition that may hold, or not, for one that holds, and refused what it reads outside of what is needed.
# sizes: W=1 target: avx512bf16 fixed: 0 seed: 0
size W
input A: f32[W + 7, 2 * W + 6, W + 9]
output f2: f32[W, W, 8]
def d4(k) = select(true, f32(pi), f32(2.0)) + k
reduce r1 in 1
reduce r3 in 6
f0[x, y, z] = A[x, x, x]
f0[x, y, z] max= (max(d4(f32(-0.0)), (A[clamp(y + -2, 0, W - 1), (2 * y + x) / 3 % 5, W + 7 - z] * A[x + 1, y + 1, z + 1])) + f32(r3))
(f1[x], g1[x]) = (tanh(A[x, x + 3, x]), f32(x))
(f1[x], g1[x]) = ((f1[x] % f0[2, 2 * x, x - 2]), g1[x] + f32(f1[x])) where (f0[x, x % 5, (let q2 = i64(abs(f0[x + 3, x, x]) + 0.5) in clamp(q2, 0, 5))] < f0[x, x, x])
f2: f32[i, j, k] = f32(0)
f2[i, j, k] max= clamp((g1[i + r1 + 2] + f0[clamp(i64(f0[i, j, k]), 0, 5), W - 1 - j, k / 2]), inf, inf)
