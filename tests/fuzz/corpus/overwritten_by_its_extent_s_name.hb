# Broke: that a scan overwrites all but the first rows was known of the box that is needed, by which the copy of A was
# sized, but no longer once its extent had a name: the pure step filled all rows, from beyond the copy's end.
# sizes: H=5 target: avx2 fixed: 1 seed: 9
size   H
input  A: i32[2 * H, 2 * H]
output f: i32[H]
reduce r in 1 .. H
g[x, y] = A[x, y + 3]
g[x, r] = g[x, r - 1] + i32(r)
f[x]    = g[x, x - 3] + g[x, x]
schedule s for avx2 {
    g.compute_at(f, x)
    A.in(g).compute_at(f, x)
}
