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

# Tensor cores. A warp makes 256 neighbouring sums of a row. As 32 x 8 of them they are a matrix product:
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

# The same by mma.sync. Each of four warps has 32 taps' pixels of its row in shared memory, where rows of
# the first factor begin 16 bytes apart: `ldmatrix` takes them as they lie, in a quarter of the instructions.
schedule mma for cuda {
    O.split(x, xo, xi, 256).split(y, yo, yi, 4)
    O.reorder(yo, xo, yi, xi).gpu_blocks(yo, xo).gpu_threads(yi).vectorize(xi)
    acc.compute_at(O, xo).store_in(mma_accumulator).split(y, yo, yi, 4).gpu_threads(yi).vectorize(x)
    acc.update.split(r, rc, rd, 32).split(rd, ro, ri, 8).split(y, yo, yi, 4)
    acc.update.reorder(rc, yo, yi, ro, x, ri).gpu_threads(yi).atomic().vectorize(x).vectorize(ri)
    I.in(acc).compute_at(acc.update, rc).store_in(shared).pad_storage(x, 288)
    I.in(acc).split(x, xs, xl, 32).reorder(xs, y, xl).gpu_threads(y, xl)
}

# CUDA cores. Each thread makes 4 neighbouring sums.
schedule simt for cuda {
    O.tile(y, x, yo, xo, yi, xi, 2, 256).split(xi, xt, xj, 4).reorder(yo, xo, yi, xt, xj)
    O.gpu_blocks(yo, xo).gpu_threads(yi, xt).unroll(xj)
    acc.compute_at(O, xt).store_in(registers).unroll(x)
    acc.update.reorder(r, y, x).unroll(x)
}

example { H = 64; W = 4096; T = 32; I = random(1); K = random(2, -1, 1) }
