# Broke: how many elements to ask the cache for depends on data, which was not loaded.
# sizes: W=7 | W=1 | W=0 target: c fixed: 0 seed: 0
size W
input A: i32[W]
output f: i32[W, W]
g[i] = A[i] + A[W - 1 - i]
f[x, y] = g[x] + g[clamp(i64(g[x]), 0, W - 1)]
schedule s for c {
    g.compute_root()
    f.prefetch(g, y, 1)
}
