# A quantised layer of a convolutional network: 3 x 3 taps, bias, ReLU, back to bytes; images NHWC,
# padded beforehand.
#
#     acc = B[k] + sum over s, r < 3, c < C of i32(F[s, r, c, k]) * i32(I[n, y + s, x + r, c])
#     O[n, y, x, k] = acc / 2^shift, rounded, within 0 .. 255

param  shift: i32 = 8
size   N, H, W, C, K
input  I: u8[N, H + 2, W + 2, C]
input  F: i8[3, 3, C, K]
input  B: i32[K]
output O: u8[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = B[k]
acc[n, y, x, k] += i32(F[s, r, c, k]) * i32(I[n, y + s, x + r, c])
O[n, y, x, k]    = u8(clamp(((acc[n, y, x, k] >> (shift - 1)) + 1) >> 1, 0, 255))

schedule portable for c {
    O.split(k, ko, ki, 64).split(x, xo, xi, 4).reorder(n, ko, y, xo, xi, ki).parallel(n)
    acc.compute_at(O, xo)
    acc.update.reorder(n, s, r, c, y, x, k)
}

# Four channels at a time in each lane, 6 pixels of 4 vectors of output channels.
schedule dot for avx512vnni {
    O.split(k, ko, ki, 64, tail = shift).split(x, xo, xi, 6, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki, 16).unroll(ki).unroll(xi).parallel(ko)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 16).unroll(k).unroll(x)
    acc.update.split(c, co, ci, 4).reorder(n, y, s, r, co, x, k, ci)
    acc.update.atomic().vectorize(ci).vectorize(k, 16).unroll(k).unroll(x)
}

# 2 x 2 tiles of 16 pixels and 16 output channels, 64 input channels deep.
schedule tiles for amx {
    O.split(k, ko, kb, 32, tail = shift).split(x, xo, xb, 32, tail = shift)
    O.tile(xb, kb, xt, kt, xi, ki, 16, 16).reorder(n, y, xo, ko, xt, kt, xi, ki).parallel(y)
    O.unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.compute_at(O, ko).store_in(amx_tile)
    acc.tile(x, k, xt, kt, xi, ki, 16, 16).unroll(xt).unroll(kt).vectorize(xi).vectorize(ki)
    acc.update.split(c, co, ci, 64).tile(x, k, xt, kt, xi, ki, 16, 16)
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

example {
    N = 5; H = 80; W = 100; C = 128; K = 128
    I = random(1); F = random(2); B = random(3, -100000, 100000)
}
