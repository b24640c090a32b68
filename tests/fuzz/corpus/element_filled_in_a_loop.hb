# Broke: gcc does not see that a loop fills an array of one element: a warning.
# sizes: W=1 | W=9 target: avx2 fixed: 0 seed: 0
size W
output f: i16[W, 7]
reduce r in W
g: i16[x] = i16(x)
f[i, j] = i16(0)
f[i, j] &= g[clamp(i + 1, 0, W - 1)] + i16(r) where i < 1
schedule s for avx2 {
    f.update.vectorize(j).split(i, io, ii, 8, tail = mask).reorder(ii, r, io, j).unroll(ii, 2, tail = mask)
    g.compute_at(f.update, r)
}
