# An image twice as high and wide: each output takes every second tap of a T x T kernel. Half floats with
# single-precision sums, for NVIDIA's GPUs.
#
#     O[y, x] = sum over s, r of K[2 s + y % 2, 2 r + x % 2] * I[y / 2 + s, x / 2 + r]
#
# Taps beyond the kernel (T odd) count as 0.

size   H, W, T
input  I: f16[(H + 1) / 2 + (T - 1) / 2, (W + 1) / 2 + (T - 1) / 2]
input  K: f16[T, T]
output O: f32[H, W]

reduce s in (T + 1) / 2, r in (T + 1) / 2
taps[i, j, p, q]   = zero_edge(K)[2 * i + p, 2 * j + q]
phase[y, x, p, q]  = 0
phase[y, x, p, q] += f32(taps[s, r, p, q]) * f32(I[y + s, x + r])
O[y, x]            = phase[y / 2, x / 2, y % 2, x % 2]

# Tensor cores. A warp makes the four phases (y % 2, x % 2) of 256 places of a row, 32 x 8 of them as a
# fragment each, from the same elements of the image; their taps are banded matrices, made once.
schedule wmma for cuda {
    O.tile(y, x, yo, xo, yi, xi, 2, 512).gpu_blocks(yo, xo).vectorize(xi).unroll(yi)
    taps.compute_root().reorder_storage(p, q, i, j)
    phase.compute_at(O, xo).store_in(wmma_accumulator)
    phase.bound(p, 0, 2).bound(q, 0, 2)
    phase.reorder(p, q, y, x).unroll(p).unroll(q).vectorize(y).vectorize(x)
    phase.update.split(r, ro, ri, 8).reorder(s, ro, p, q, y, x, ri).unroll(p).unroll(q)
    phase.update.atomic().vectorize(y).vectorize(x).vectorize(ri)
}

# CUDA cores. Each thread makes the four phases of one place.
schedule simt for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 64).tile(yi, xi, yt, xt, yj, xj, 2, 2)
    O.gpu_blocks(yo, xo).gpu_threads(yt, xt).unroll(yj).unroll(xj)
    taps.compute_root()
    phase.compute_at(O, xt).store_in(registers).bound(p, 0, 2).bound(q, 0, 2)
    phase.reorder(p, q, y, x).unroll(p).unroll(q)
    phase.update.reorder(s, r, p, q, y, x).unroll(p).unroll(q)
}

example { H = 256; W = 1024; T = 16; I = random(1, -1, 1); K = random(2, -1, 1) }
