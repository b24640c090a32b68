size   H, W
input  A: f32[H, W]
output O: f32[H, W]
reduce r in 3
f[y, x] = A[y, x] + 1
f[y, x] += f32(r)
g[y, x] = A[y, x] * 3
O[y, x] = f[y, x] + g[y, x]
schedule s for avx512 {
    g.compute_root().compute_with(f.update, x)
}
