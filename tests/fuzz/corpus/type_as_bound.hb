# Broke: memory of 2^31 rows: the bound that an i32 index has by its type became a constant extent.
# sizes: W=5 | W=1 target: avx512 fixed: 0 seed: 0
size W
input B: i32[W, W]
output f: i32[W]
reduce r in W
g[x, y] = B[x, 0]
g[x, clamp(i64(B[r, r]), 0, W - 1)] += B[x, r]
f[n] = g[n, clamp(i64(B[n, 0]), 0, W - 1)]
