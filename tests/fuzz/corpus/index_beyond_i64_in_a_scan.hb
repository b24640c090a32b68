# Broke: the same within a `while`, read through `f32`.
# sizes: W=1 target: avx512 fixed: 0 seed: 0
size W
input A: u64[W + 3, W + 1]
output f3: f32[W, W]
reduce r1 in 1 .. W
reduce r2 in 1 .. W + 1
f0[x] = f32(A[clamp(i64(A[x, x]), 0, W - 1), x])
f0[x] = f32(A[x + 3, r2]) - f0[x] * 0.5 while r2: f0[x] != product(q3 in 1 .. 5: f32(inf))
f3[x, y] = f32(1.0)
f3[r1, y] = f3[r1 - 1, y] * 0.5 + (-(f32(y) + f0[y]))
