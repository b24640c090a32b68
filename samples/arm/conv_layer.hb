# A quantised layer of a convolutional network on ARM's dot products: 3 x 3 taps, bias, ReLU, back to
# bytes; images NHWC, padded beforehand.
#
#     acc = B[k] + sum over s, r < 3, c < C of i32(I[n, y + s, x + r, c]) * i32(F[s, r, c, k])
#     O[n, y, x, k] = acc / 2^shift, rounded, within 0 .. 255
#
# `acc` is 4 pixels of 16 output channels in sixteen registers: `usdot` takes four input channels of a
# pixel, the same for all outputs, and the filter, which hbc packs once.

kernel conv_layer_dot
param  shift: i32 = 8
size   N, H, W, C, K
input  I: u8[N, H + 2, W + 2, C]
input  F: i8[3, 3, C, K]
input  B: i32[K]
output O: u8[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = B[k]
acc[n, y, x, k] += i32(I[n, y + s, x + r, c]) * i32(F[s, r, c, k])
O[n, y, x, k]    = u8(clamp(((acc[n, y, x, k] >> (shift - 1)) + 1) >> 1, 0, 255))

schedule dots for arm_dot {
    O.split(k, ko, ki, 16, tail = shift).split(x, xo, xi, 4, tail = shift)
    O.reorder(ko, n, y, xo, xi, ki).vectorize(ki).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(k, 4).unroll(k).unroll(x)
    acc.update.split(c, co, ci, 4).reorder(n, y, s, r, co, x, k, ci)
    acc.update.atomic().vectorize(k, 4).vectorize(ci).unroll(k).unroll(x)
}

example { N = 1; H = 14; W = 18; C = 32; K = 32; I = random(1); F = random(2); B = random(3, -1000, 1000) }
