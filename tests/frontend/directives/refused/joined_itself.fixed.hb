size   H, W
input  A: f32[H, W]
output O: f32[H, W]
edge = clamp_edge(A)
f[y, x] = edge[y, x - 1] + edge[y, x + 1]
g[y, x] = edge[y - 1, x] * 2
O[y, x] = f[y, x] + g[y, x]
schedule s for avx512 {
    f.compute_root()
    g.compute_root().compute_with(f, y)
}
