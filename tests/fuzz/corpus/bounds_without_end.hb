# Broke: the search for a bound of the index began a new search for the same bound, without end.
# sizes: W=1 H=1 | W=3 H=7 target: avx2 fixed: 0 seed: 0
size W, H
input A: i16[W + 1]
output f: i16[H, H]
reduce r in H
f[x, y] = 0
f[x, y] ^= A[clamp(y - 1, 0, W)] where 0 <= y and y + 2 <= r
schedule s for avx2 {
    f.update.unroll(x, 3, tail = guard).vectorize(y, 5).vectorize(x, 5).split(r, ro, ri, 8, tail = guard).reorder(ri, ro, x, y_v, x_u, y, x_v)
}
