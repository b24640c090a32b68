# Broke: sliding windows: another dimension of the window moved too, its old rows were too short.
# sizes: W=9 | W=3 target: avx2 fixed: 0 seed: 0
size W
output f: i32[W, W]
reduce r in 1 .. W
g[y, z] = i32(y * 100 + z)
f[x, y] = 0
f[x, r] = g[r, r + x] + g[r - 1, min(x, 3)]
schedule s for avx2 { g.compute_at(f.update, r).store_root() }
