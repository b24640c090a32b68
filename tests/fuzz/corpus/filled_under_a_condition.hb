# Broke: gcc does not see that an array filled under a condition is read under the same: a warning.
# sizes: W=1 H=1 target: avx512bf16 fixed: 0 seed: 0
size W, H
input A: bf16[H + W + 7, 2 * H + 2 * W + 1, 2 * H + W + 10]
output f2: f32[H, 7, 7]
output f1: f32[H]
reduce r1 in 1
reduce r2 in H
reduce r3 in W
f1[x] = f32(0)
f1[x] += f32(A[r3, 2 * x, 2 * x]) * f32(A[x, r3 + r3, r3 % 4])
f2: f32[x, y, z] = f32(0)
f2[x, y, z] += f32(A[z, r1 + r1, z + 3]) * f32(A[r1 + 2, x / 3, x + 1])
f2[x, y, z] += f32(A[z, r2 / 2, clamp(x + 2, 0, W - 1)]) * f1[x]
schedule s for avx512bf16 {
    f2.update.parallel(x)
    f2.update(1).atomic().vectorize(r2, 16, tail = mask).vectorize(z)
}
