# Broke: bounds: at a point that only a guard takes away something was needed, and further out nothing.
# sizes: W=5 H=1 | W=7 H=6 | W=3 H=0 target: c fixed: 0 seed: 0
size W, H
input A: u16[H]
output f: u16[W, H]
h[y] = A[y] + 1
g[y] = h[y] + 2
f[x, y] = g[y]
schedule s for c {
    f.split(y, yo, yi, 4, tail = shift).reorder(yi, yo, x)
    g.compute_at(f, x)
    h.compute_at(f, yi)
}
