# Broke: gcc 13 took an array for unfilled whose only store is under a mask.
# sizes: N=12 target: avx2 fixed: 0 seed: 6
size N
param J: i32 = 3
input A: i16[N]
output O: i16[N]
def step(f)[x] = let q = f[x - 2] in q * q + f[x]
edge = wrap(A)
g[0] = step(edge)
for l in 1 .. J { g[l] = step(g[l - 1]) }
up[J - 1][x] = g[J - 1][x]
for l in 2 .. J + 1 { up[J - l][x] = up[J - l + 1][x / 2] + g[J - l][x] }
O[x] = up[0][x]
schedule s for avx2 {
    O.split(x, xo, xi, 16).reorder(xo, xi).vectorize(xi, 16).parallel(xo)
    up[1].compute_at(O, xo).split(x, xo, xi, 16).reorder(xo, xi).vectorize(xi, 16)
    up[2].compute_at(up[1], xo).split(x, xo, xi, 16).reorder(xo, xi).vectorize(xi, 16)
    g[0].compute_at(O, xo).split(x, xo, xi, 16, tail = shift).reorder(xo, xi).vectorize(xi, 16)
}
