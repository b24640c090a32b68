# A layer of a convolutional network in half floats with single-precision sums, for NVIDIA's GPUs: 3 x 3 taps,
# bias, ReLU; images NHWC, padded beforehand.
#
#     O[n, y, x, k] = max(0, B[k] + sum over s, r < 3, c < C of F[s, r, c, k] * I[n, y + s, x + r, c])

size   N, H, W, C, K
input  I: f16[N, H + 2, W + 2, C]
input  F: f16[3, 3, C, K]
input  B: f32[K]
output O: f32[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = B[k]
acc[n, y, x, k] += f32(I[n, y + s, x + r, c]) * f32(F[s, r, c, k])
O[n, y, x, k]    = max(acc[n, y, x, k], 0.0)

# Tensor cores. Each of four warps makes 64 pixels of a row for 16 channels; the sums begin with the bias,
# and what is negative becomes 0 in the fragments. The pixels that a block needs, six rows of 66, come to
# shared memory for 16 channels of the input at a time, and the taps for them; beyond the edges they are
# zeros, so that any size will do.
schedule wmma for cuda {
    O.split(k, ko, ki, 16).split(x, xo, xi, 64)
    O.split(y, yo, yi, 4).fuse(n, yo, rows).reorder(rows, xo, ko, yi, xi, ki)
    O.gpu_blocks(rows, xo, ko).gpu_threads(yi)
    O.split(xi, xt, xv, 16).unroll(xt).vectorize(xv).vectorize(ki)
    acc.compute_at(O, ko).store_in(wmma_accumulator)
    acc.split(y, yo, yi, 4).split(x, xt, xv, 16).reorder(n, yo, yi, xt, xv, k).gpu_threads(yi).unroll(xt).vectorize(xv).vectorize(k)
    acc.update.split(c, co, ci, 16).split(x, xt, xv, 16).split(y, yo, yi, 4)
    acc.update.reorder(n, co, yo, yi, s, r, xt, xv, k, ci).gpu_threads(yi).unroll(r).unroll(xt)
    acc.update.atomic().vectorize(xv).vectorize(k).vectorize(ci)
    I.in(acc).compute_at(acc.update, co).store_in(shared).vectorize(c, 8)
    F.in(acc).compute_at(acc.update, co).store_in(shared).pad_storage(k, 24).vectorize(k, 8)
    B.in(acc).compute_at(O, ko).store_in(shared)
}

# The same by mma.sync, for 32 channels a warp, from operands that come by ldmatrix. While 16 channels of the input are
# multiplied, the next 16 are on their way to shared memory; rows of 48 bytes there lie in different banks.
schedule mma for cuda {
    O.split(k, ko, ki, 32).split(x, xo, xi, 64)
    O.split(y, yo, yi, 4).fuse(n, yo, rows).reorder(rows, xo, ko, yi, xi, ki)
    O.gpu_blocks(rows, xo, ko).gpu_threads(yi)
    O.tile(xi, ki, xt, kt, xv, kv, 16, 16).unroll(xt).unroll(kt).vectorize(xv).vectorize(kv)
    acc.compute_at(O, ko).store_in(mma_accumulator)
    acc.split(y, yo, yi, 4).tile(x, k, xt, kt, xv, kv, 16, 16).reorder(n, yo, yi, xt, kt, xv, kv)
    acc.gpu_threads(yi).unroll(xt).unroll(kt).vectorize(xv).vectorize(kv)
    acc.update.split(c, co, ci, 16).tile(x, k, xt, kt, xv, kv, 16, 16).split(y, yo, yi, 4)
    acc.update.reorder(n, co, yo, yi, s, r, xt, kt, xv, kv, ci).gpu_threads(yi).pipeline(co, 2)
    acc.update.unroll(r).unroll(xt).unroll(kt).atomic().vectorize(xv).vectorize(kv).vectorize(ci)
    I.in(acc).compute_at(acc.update, co).store_in(shared).pad_storage(c, 24).vectorize(c, 8)
    F.in(acc).compute_at(acc.update, co).store_in(shared).pad_storage(k, 40).vectorize(k, 8)
    B.in(acc).compute_at(O, ko).store_in(shared)
}

# CUDA cores. Each of 256 threads makes 4 pixels of 4 channels in registers; two blocks at once leave a
# thread 128 of them. Any size will do.
schedule simt for cuda {
    O.split(k, ko, ki, 16).split(x, xo, xi, 64).split(y, yo, yi, 4).fuse(n, yo, rows)
    O.tile(xi, ki, xt, kt, xv, kv, 4, 4).reorder(rows, xo, ko, yi, xt, kt, xv, kv)
    O.gpu_blocks(rows, xo, ko).at_once(2).gpu_threads(yi, xt, kt).unroll(xv).vectorize(kv)
    acc.compute_at(O, ko).store_in(registers)
    acc.split(y, yo, yi, 4).tile(x, k, xt, kt, xv, kv, 4, 4)
    acc.reorder(n, yo, yi, xt, kt, xv, kv).gpu_threads(yi, xt, kt).unroll(xv).unroll(kv)
    acc.update.split(y, yo, yi, 4).tile(x, k, xt, kt, xv, kv, 4, 4).split(c, co, ci, 16)
    acc.update.reorder(n, yo, co, yi, xt, kt, s, r, ci, xv, kv).gpu_threads(yi, xt, kt)
    acc.update.unroll(xv).unroll(kv)
    I.in(acc).compute_at(acc.update, co).vectorize(c, 8)
}

example {
    N = 4; H = 64; W = 64; C = 32; K = 32
    I = random(1, -1, 1); F = random(2, -0.1, 0.1); B = random(3, -1, 1)
}
