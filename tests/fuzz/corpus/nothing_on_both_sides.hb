# Broke: bounds: what a loop that does not run reads on both sides was an element between.
# sizes: W=12 H=2 | W=17 H=0 | W=12 H=5 target: c fixed: 0 seed: 1
size W, H
input A: i64[W, H]
output f: i64[W, H]
h[x, y] = A[x, y]
g[x, y] = h[x, y] + h[x, H - 1 - y]
f[x, y] = g[x, y]
schedule s for c {
    f.split(x, o1, i1, 7, tail = shift).split(y, o2, i2, 4, tail = mask).reorder(i1, i2, o2, o1).fuse(o2, o1, h3).unroll(h3, 8, tail = mask)
    g.split(y, o4, i4, 5, tail = guard)
    g.compute_at(f, i2)
    h.compute_at(g, x)
    h.unroll(y, 4, tail = shift)
}
