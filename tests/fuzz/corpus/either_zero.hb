# Broke: 0.0 and -0.0 clamped to each other have no certain sign, and what they divide is anything.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input A: f32[W + 1]
input B: f32[W]
output f3: f32[W, W]
reduce r1 in W
reduce r2 in 2 .. W
f1[i, j, k] = clamp((u8(5) % 3), 1, 0)
f2[x, y, z] = 0
f2[x, y, r2] = let t3 = f2[x, y, r2 - 2] in t3 + f1[2 * r2 - 1, x, r2 + y] where (i32(A[0]) != i32(B[clamp(x + 0, 0, W - 1)]))
f3[x, y] = f32(0)
f3[x, y] max= rsqrt(clamp(A[y + 1], -0.0, f32(f1[f2[x, y, r1] % 6, y, r1])))
schedule s for avx512 {
    f3.split(x, xo1, xi2, 2)
}
