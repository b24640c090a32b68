# A block of a residual network (He et al. 2015): three convolutions, the middle one of 3 x 3 pixels, with their
# normalisation folded into scale and shift, added to what came in.
size   N, H, W, C, M
input  A: f32[N, H, W, C]
input  F: f32[C, M]
input  G: f32[3, 3, M, M]
input  E: f32[M, C]
input  f: f32[2, M]
input  g: f32[2, M]
input  e: f32[2, C]
output O: f32[N, H, W, C]

reduce c in C, m in M, r in 3, s in 3
def normed(v, w, k) = v * w[0, k] + w[1, k]

narrow[n, y, x, k]  = 0.0
narrow[n, y, x, k] += A[n, y, x, c] * F[c, k]
first[n, y, x, k]   = max(normed(narrow[n, y, x, k], f, k), 0)
inside[n, y, x, k]  = select(0 <= y and y < H and 0 <= x and x < W, first[n, clamp(y, 0, H - 1), clamp(x, 0, W - 1), k], 0)
near[n, y, x, k]    = 0.0
near[n, y, x, k]   += inside[n, y + r - 1, x + s - 1, m] * G[r, s, m, k]
second[n, y, x, k]  = max(normed(near[n, y, x, k], g, k), 0)
broad[n, y, x, k]   = 0.0
broad[n, y, x, k]  += second[n, y, x, m] * E[m, k]
O[n, y, x, k]       = max(normed(broad[n, y, x, k], e, k) + A[n, y, x, k], 0)

schedule tiles for avx512 {
    O.split(x, xo, xi, 6, tail = shift).split(k, ko, ki, 64, tail = shift)
    O.reorder(n, y, xo, ko, xi, ki).unroll(xi).vectorize(ki, 16).unroll(ki).parallel(n)
    broad.compute_at(O, ko).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    broad.update.reorder(n, y, m, x, k).vectorize(k, 16).unroll(k).unroll(x).unroll(m, 2)
    second.compute_at(O, y).split(x, xo, xi, 6, tail = shift)
    second.split(k, ko, ki, 64, tail = shift).reorder(n, y, ko, xo, xi, ki).unroll(xi)
    second.vectorize(ki, 16).unroll(ki)
    near.compute_at(second, xo).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    near.update.reorder(n, y, r, s, m, x, k).vectorize(k, 16).unroll(k).unroll(x).unroll(m, 2)
    inside.compute_at(O, n).vectorize(k, 16)
    first.compute_at(O, n).split(x, xo, xi, 6, tail = shift).split(k, ko, ki, 64, tail = shift)
    first.reorder(n, y, ko, xo, xi, ki).unroll(xi).vectorize(ki, 16).unroll(ki)
    narrow.compute_at(first, xo).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    narrow.update.reorder(n, y, c, x, k).vectorize(k, 16).unroll(k).unroll(x).unroll(c, 2)
}

example {
    N = 1; H = 56; W = 56; C = 256; M = 64; A = random(1); F = random(2, -0.1, 0.1); G = random(3, -0.1, 0.1); E = random(4, -0.1, 0.1)
    f = random(5); g = random(6); e = random(7)
}
