# Broke: less is known of a remainder inside a loop (y % 3 of pieces of 4) than outside (of what y is there), where the
# copy of A was sized: g, which has no memory around that loop, was computed from beyond the copy's end.
# sizes: W=7 H=2 | W=8 H=8 target: avx2 fixed: 0 seed: 3
size   W, H
input  A: i32[H + 5, W]
output f: i32[H, W]
reduce r in 2 .. H
g[y, x] = A[y + 2, x]
f[y, x] = g[y % 3, x] + g[y - 2, x]
f[r, x] = f[r - 2, x] + i32(r)
schedule s for avx2 {
    f.reorder(x, y).split(y, yo, yi, 4, tail = shift)
    g.compute_at(f, yo)
    A.in(g).compute_at(f, x)
}
