# Broke: lowering: a fused loop was peeled before the split of the other variable in it.
# sizes: W=17 | W=4 | W=33 target: c fixed: 0 seed: 0
size W
input A: i32[W, W]
output f: i32[W, W]
f[x, y] = A[x, y]
schedule s for c {
    f.split(x, xo, xi, 8).tile(xi, y, a, b, c, d, 3, 4).fuse(a, b, e).split(e, eo, ei, 5).split(ei, g, h, 2, tail = guard)
}
