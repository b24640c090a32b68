# Broke: bounds: of a piece that only a guard ends less than nothing was needed, and mirrored that was much.
# sizes: W=3 H=1 | W=9 H=2 | W=2 H=0 target: c fixed: 0 seed: 0
size W, H
input A: u16[W, H]
output f: u16[W, H]
h[x, y] = A[x, y]
g[x, y] = h[x, y] + h[x, H - 1 - y]
f[x, y] = g[x, y]
schedule s for c {
    f.split(y, yo, yi, 4, tail = shift).reorder(yi, x, yo)
    g.compute_at(f, x)
    h.compute_at(g, x)
}
