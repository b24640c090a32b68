# Convolution of a bf16 image with T x T taps at every second row and column, summed in f32.
#
#     O[y, x] = sum over s, r < T of f32(K[s, r]) * f32(I[2 y + s, 2 x + r])
#
# As it stands: with dot products the windows of four outputs of a row are eight adjacent values, the
# taps a matrix banded along y, and the columns need not be separated as in `downsample`.

size   H, W, T
input  I: bf16[2 * H + T - 2, 2 * W + T - 2]
input  K: bf16[T, T]
output O: f32[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += f32(K[s, r]) * f32(I[2 * y + s, 2 * x + r])
O[y, x]    = acc[y, x]

schedule portable for c {
    O.tile(y, x, yo, xo, yi, xi, 4, 32).parallel(yo)
    acc.compute_at(O, xo)
    acc.update.reorder(s, r, y, x)
}

# Vectors of 4 x 4 outputs; eight values of a row of the image are loaded into all four rows of a vector
# for one instruction, and meet their taps in those that want them.
schedule dot for avx512bf16 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.specialize(T % 32 == 0).split(s, so, si, 32).split(r, ro, ri, 32).split(x, x, xi, 4)
        .reorder(so, ro, x, y, xi, si, ri)
        .atomic().vectorize(ri).vectorize(si).vectorize(xi).vectorize(y, 4).unroll(x)
    acc.update.specialize(T % 16 == 0).split(s, so, si, 16).split(r, ro, ri, 16).split(x, x, xi, 4)
        .reorder(so, ro, x, y, xi, si, ri)
        .atomic().vectorize(ri).vectorize(si).vectorize(xi).vectorize(y, 4).unroll(x)
    acc.update.reorder(s, r, y, x).vectorize(x, 16).unroll(x).unroll(y)
}

schedule fast for avx512 {
    O.tile(y, x, yo, xo, yi, xi, 4, 64, tail = shift)
    O.vectorize(xi, 16).unroll(xi).unroll(yi).parallel(yo)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    acc.update.reorder(s, r, y, x).vectorize(x, 16).unroll(x).unroll(y)
}

example { H = 1024; W = 1024; T = 16; I = random(1, -1, 1); K = random(2, -1, 1) }
example big { H = 1024; W = 1024; T = 32; I = random(1, -1, 1); K = random(2, -1, 1) }
