# Broke: under a condition that only lane 1 meets the place was that of lane 1, also in a tail without it.
# sizes: H=1 | H=4 | H=7 target: avx512 fixed: 0 seed: 0
size H
input A: i32[H, H]
output f: i32[H, H]
output g: i32[H, H]
f[x, y] = 1
f[x, y] += 3 where y % 2 == 1
g[x, y] = 0
g[x, y] = A[x, y] where y % 2 == 1
schedule s for avx512 {
    f.update.vectorize(y, 2).split(x, xo, xi, 2)
    g.update.vectorize(y, 2).split(x, xo, xi, 2)
}
