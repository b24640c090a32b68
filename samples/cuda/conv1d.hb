# Convolution of every row of an image with one row of T taps, of half floats with single-precision sums,
# for NVIDIA's GPUs.
#
#     O[y, x] = sum over r < T of K[r] * I[y, x + r]

size   H, W, T
input  I: f16[H, W + T - 1]
input  K: f16[T]
output O: f32[H, W]

reduce r in T
acc[y, x]  = 0
acc[y, x] += f32(K[r]) * f32(I[y, x + r])
O[y, x]    = acc[y, x]

# Tensor cores by mma.sync. Four warps make 512 sums of four rows each. The pixels for 32 taps come to shared memory by
# 16 bytes, the next ones while these are multiplied; rows of the first factor begin 16 bytes apart there, so that
# `ldmatrix` takes them as they lie. Sixteen products share a filter, which is packed as lanes have it.
schedule mma for cuda {
    O.split(x, xo, xi, 512).split(y, yo, yi, 16).split(yi, yw, yv, 4)
    O.reorder(yo, xo, yw, yv, xi).gpu_blocks(yo, xo).gpu_threads(yw).unroll(yv).vectorize(xi)
    acc.compute_at(O, xo).store_in(mma_accumulator)
    acc.split(y, yw, yv, 4).gpu_threads(yw).unroll(yv).vectorize(x)
    acc.update.split(r, rc, rd, 32).split(rd, ro, ri, 8).split(y, yw, yv, 4)
    acc.update.reorder(rc, yw, ro, yv, x, ri).pipeline(rc, 2).gpu_threads(yw)
    acc.update.unroll(ro).unroll(yv).atomic().vectorize(x).vectorize(ri)
    I.in(acc).compute_at(acc.update, rc).store_in(shared).pad_storage(x, 544).vectorize(x, 8)
}

# The same for rows that do not begin at 16 bytes, as those of W + T - 1 half floats seldom do: neighbouring threads
# copy neighbouring pixels, two bytes each. On an H200 with dense rows 36 and 172 us for 4096 x 4096 sums of 32 and
# 256 taps, where `mma` takes 64 and 216; with rows of whole 16 bytes 38 and 152, and `mma` 39 and 109.
schedule mma_dense for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 4)
    O.reorder(yo, xo, yi, xi).gpu_blocks(yo, xo).gpu_threads(yi).vectorize(xi)
    acc.compute_at(O, xo).store_in(mma_accumulator).split(y, yo, yi, 4).gpu_threads(yi).vectorize(x)
    acc.update.split(r, rc, rd, 32).split(rd, ro, ri, 8).split(y, yo, yi, 4)
    acc.update.reorder(rc, yo, yi, ro, x, ri).gpu_threads(yi).atomic().vectorize(x).vectorize(ri)
    I.in(acc).compute_at(acc.update, rc).store_in(shared).pad_storage(x, 288)
    I.in(acc).split(x, xs, xl, 32).reorder(xs, y, xl).gpu_threads(y, xl)
}

# By WMMA a warp makes 256 neighbouring sums of a row. As 32 x 8 of them they are a matrix product:
# 8 taps slide along 8 outputs within 15 elements of the image, which with one more make a row of the
# first factor, and the taps, 8 times one below the other, a banded matrix, the second. The bands are made once by
# a kernel of their own, the rows by the lanes of each warp.
schedule wmma for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 4)
    O.reorder(yo, xo, yi, xi).gpu_blocks(yo, xo).gpu_threads(yi).vectorize(xi)
    acc.compute_at(O, yi).store_in(wmma_accumulator).vectorize(x)
    acc.update.split(r, ro, ri, 8).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x).vectorize(ri)
}

# CUDA cores. Each thread makes 4 neighbouring sums.
schedule simt for cuda {
    O.tile(y, x, yo, xo, yi, xi, 2, 256).split(xi, xt, xj, 4).reorder(yo, xo, yi, xt, xj)
    O.gpu_blocks(yo, xo).gpu_threads(yi, xt).unroll(xj)
    acc.compute_at(O, xt).store_in(registers).unroll(x)
    acc.update.reorder(r, y, x).unroll(x)
}

example { H = 64; W = 4096; T = 32; I = random(1); K = random(2, -1, 1) }
