# A layer of a convolutional network: 3 x 3 taps, bias, ReLU; bf16 images NHWC, padded beforehand.
#
#     O[n, y, x, k] = max(0, B[k] + sum over s, r < 3, c < C of F[s, r, c, k] * I[n, y + s, x + r, c])
#
# Pixels are the rows of a tile, output channels its columns: each tap is a matrix product.

size   N, H, W, C, K
input  I: bf16[N, H + 2, W + 2, C]
input  F: bf16[3, 3, C, K]
input  B: f32[K]
output O: f32[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = B[k]
acc[n, y, x, k] += f32(F[s, r, c, k]) * f32(I[n, y + s, x + r, c])
O[n, y, x, k]    = max(acc[n, y, x, k], 0)

# 2 x 2 tiles of 16 pixels and 16 output channels, 32 input channels deep.
schedule tiles for amx {
    O.split(k, ko, kb, 32, tail = shift).split(x, xo, xb, 32, tail = shift)
    O.tile(xb, kb, xt, kt, xi, ki, 16, 16).reorder(n, y, xo, ko, xt, kt, xi, ki).parallel(y)
    O.unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.compute_at(O, ko).store_in(amx_tile)
    acc.tile(x, k, xt, kt, xi, ki, 16, 16).unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.update.split(c, co, ci, 32).tile(x, k, xt, kt, xi, ki, 16, 16)
    acc.update.reorder(n, y, s, r, co, xt, kt, xi, ki, ci)
    acc.update.unroll(xt).unroll(kt).atomic().vectorize(xi).vectorize(ki).vectorize(ci)
}

example {
    N = 5; H = 80; W = 100; C = 128; K = 128
    I = random(1, -1, 1); F = random(2, -0.03, 0.03); B = random(3, -1, 1)
}
