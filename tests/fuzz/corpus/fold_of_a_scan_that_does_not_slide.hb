# Broke: a scan ran as a whole in memory for one window: the probe saw it slide, the loops did not.
# sizes: W=17 | W=5 | W=0 target: c fixed: 0 seed: 0
size W
input A: i32[W + 1]
output f: i32[W]
reduce r in 1 .. W + 1
g[y] = 0
g[r] = A[r]
f[y] = g[y]
schedule s for c {
    f.split(y, yo, yi, 7, tail = shift)
    g.compute_at(f, yo).store_root()
}
