# A layer of a convolutional network: 3 x 3 taps, bias, ReLU; images NHWC, padded beforehand.
#
#     O[n, y, x, k] = max(0, B[k] + sum over s, r < 3, c < C of F[s, r, c, k] * I[n, y + s, x + r, c])
#
# The fast schedule holds 5 pixels of 4 vectors of output channels: for each input channel 4 loads of
# the filter serve 5 pixels.

type   T = f32
size   N, H, W, C, K
input  I: T[N, H + 2, W + 2, C]
input  F: T[3, 3, C, K]
input  B: f32[K]
output O: f32[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = B[k]
acc[n, y, x, k] += f32(F[s, r, c, k]) * f32(I[n, y + s, x + r, c])
O[n, y, x, k]    = max(acc[n, y, x, k], 0)

schedule portable for c {
    O.split(k, ko, ki, 64).split(x, xo, xi, 4).reorder(n, ko, y, xo, xi, ki).parallel(n)
    acc.compute_at(O, xo)
    acc.update.reorder(n, s, r, c, y, x, k)
}

# For T = bf16: two channels at a time in each lane, 6 pixels of 4 vectors.
schedule dot for avx512bf16 {
    O.split(k, ko, ki, 64, tail = shift).split(x, xo, xi, 6, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 16).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    acc.update.split(c, co, ci, 2).reorder(n, y, s, r, co, x, k, ci)
    acc.update.atomic().vectorize(ci).vectorize(k, 16).unroll(k).unroll(x)
}

# For T = bf16 on tiles: 2 x 2 of 16 pixels by 16 channels.
schedule tiles for amx {
    O.split(x, xo, xb, 32, tail = shift).split(k, ko, kb, 32, tail = shift)
    O.tile(xb, kb, xt, kt, xi, ki, 16, 16).reorder(n, y, xo, ko, xt, kt, xi, ki).parallel(y)
    O.unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.compute_at(O, ko).store_in(amx_tile)
    acc.tile(x, k, xt, kt, xi, ki, 16, 16).unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.update.split(c, co, ci, 32).tile(x, k, xt, kt, xi, ki, 16, 16)
    acc.update.reorder(n, y, s, r, co, xt, kt, xi, ki, ci)
    acc.update.unroll(xt).unroll(kt).atomic().vectorize(xi).vectorize(ki).vectorize(ci)
}

schedule fast for avx512 {
    O.split(k, ko, ki, 64, tail = shift).split(x, xo, xi, 5, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 16).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    acc.update.reorder(n, y, s, r, c, x, k).vectorize(k, 16).unroll(k).unroll(x).unroll(c, 2)
}

schedule narrow for avx2 {
    O.split(k, ko, ki, 16, tail = shift).split(x, xo, xi, 6, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 8).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 8).unroll(k).unroll(x)
    acc.update.reorder(n, y, s, r, c, x, k).vectorize(k, 8).unroll(k).unroll(x).unroll(c, 2)
}

# f32; bytes on dot products are in arm/conv_layer.hb.
schedule neon for arm_dot {
    O.split(k, ko, ki, 16, tail = shift).split(x, xo, xi, 4, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 4).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 4).unroll(k).unroll(x)
    acc.update.reorder(n, y, s, r, c, x, k).vectorize(k, 4).unroll(k).unroll(x).unroll(c, 2)
}

# For T = bf16: two channels at a time in each lane.
schedule neon_dot for arm_dot {
    O.split(k, ko, ki, 16, tail = shift).split(x, xo, xi, 4, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 4).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 4).unroll(k).unroll(x)
    acc.update.split(c, co, ci, 2).reorder(n, y, s, r, co, x, k, ci)
    acc.update.atomic().vectorize(ci).vectorize(k, 4).unroll(k).unroll(x)
}

example {
    N = 5; H = 80; W = 100; C = 128; K = 128
    I = random(1, -1, 1); F = random(2, -0.03, 0.03); B = random(3, -1, 1)
}
