size   H, W
input  A: f32[H, W]
output O: f32[H, W]
f[y, x] = A[y, x] + 1
m[y, x] = f[y, x] * 2
g[y, x] = m[y, x] * 3
O[y, x] = f[y, x] + g[y, x]
schedule s for avx512 {
    f.compute_root()
    m.compute_root().compute_with(f, y)
    g.compute_root().compute_with(m, y)
}
