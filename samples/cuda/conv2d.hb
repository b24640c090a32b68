# Convolution of an image with T x T taps that need not be separable, of half floats with
# single-precision sums, for NVIDIA's GPUs.
#
#     O[y, x] = sum over s, r < T of K[s, r] * I[y + s, x + r]

size   H, W, T
input  I: f16[H + T - 1, W + T - 1]
input  K: f16[T, T]
output O: f32[H, W]

reduce s in T, r in T
acc[y, x]  = 0
acc[y, x] += f32(K[s, r]) * f32(I[y + s, x + r])
O[y, x]    = acc[y, x]

# Tensor cores by mma.sync. Four warps make four rows each. The pixels for 8 x 16 taps come to shared memory by 16
# bytes, the next ones while these are multiplied; rows of the first factor begin 16 bytes apart there, so that
# `ldmatrix` takes them as they lie. Eight products share a filter, which is packed as lanes have it; four rows of taps
# and four of sums need but seven rows of pixels.
schedule mma for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 16).split(yi, yw, yv, 4)
    O.reorder(yo, xo, yw, yv, xi).gpu_blocks(yo, xo).at_once(3).gpu_threads(yw).unroll(yv).vectorize(xi)
    acc.compute_at(O, xo).store_in(mma_accumulator)
    acc.split(y, yw, yv, 4).gpu_threads(yw).unroll(yv).vectorize(x)
    acc.update.split(s, sc, sd, 8).split(sd, sp, si, 4).split(r, rc, rd, 16).split(rd, ro, ri, 8).split(y, yw, yv, 4)
    acc.update.reorder(rc, sc, yw, sp, si, ro, yv, x, ri).pipeline(sc, 2).gpu_threads(yw)
    acc.update.unroll(si).unroll(ro).unroll(yv).atomic().vectorize(x).vectorize(ri)
    I.in(acc).compute_at(acc.update, sc).store_in(shared).pad_storage(x, 272).vectorize(x, 8)
}

# By WMMA a warp makes 256 neighbouring sums of a row, 32 x 8 of them as a fragment. Each row of
# taps is a banded matrix, made once.
schedule wmma for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 4)
    O.reorder(yo, xo, yi, xi).gpu_blocks(yo, xo).gpu_threads(yi).vectorize(xi)
    acc.compute_at(O, yi).store_in(wmma_accumulator).vectorize(x)
    acc.update.split(r, ro, ri, 8).reorder(s, ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}

# CUDA cores. Each thread makes 4 neighbouring sums.
schedule simt for cuda {
    O.tile(y, x, yo, xo, yi, xi, 2, 256).split(xi, xt, xj, 4).reorder(yo, xo, yi, xt, xj)
    O.gpu_blocks(yo, xo).gpu_threads(yi, xt).unroll(xj)
    acc.compute_at(O, xt).store_in(registers).unroll(x)
    acc.update.reorder(s, r, y, x).unroll(x)
}

example { H = 256; W = 1024; T = 16; I = random(1); K = random(2, -1, 1) }
