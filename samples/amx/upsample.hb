# A bf16 image twice as high and wide: each output takes every second tap of a T x T kernel.
#
#     O[y, x] = sum over s, r of K[2 s + y % 2, 2 r + x % 2] * I[y / 2 + s, x / 2 + r]
#
# Polyphase: each phase (y % 2, x % 2) has a tile of 16 x 16 sums. For each row of its taps there is a
# banded matrix, made once. Taps beyond the kernel (T odd) count as 0.

size   H, W, T
input  I: bf16[(H + 1) / 2 + (T - 1) / 2, (W + 1) / 2 + (T - 1) / 2]
input  K: bf16[T, T]
output O: f32[H, W]

reduce s in (T + 1) / 2, r in (T + 1) / 2
taps[i, j, p, q]   = zero_edge(K)[2 * i + p, 2 * j + q]
phase[y, x, p, q]  = 0
phase[y, x, p, q] += f32(taps[s, r, p, q]) * f32(I[y + s, x + r])
O[y, x]            = phase[y / 2, x / 2, y % 2, x % 2]

schedule tiles for amx {
    O.tile(y, x, yo, xo, yi, xi, 32, 32).vectorize(xi).unroll(yi).parallel(yo)
    taps.compute_root().reorder_storage(p, q, i, j)
    phase.compute_at(O, xo).store_in(amx_tile).reorder_storage(p, q, y, x)
    phase.bound(p, 0, 2).bound(q, 0, 2)
    phase.reorder(p, q, y, x).unroll(p).unroll(q).vectorize(y).vectorize(x)
    phase.update.split(r, ro, ri, 8).reorder(s, ro, p, q, y, x, ri).unroll(p).unroll(q)
        .atomic().vectorize(y).vectorize(x).vectorize(ri)
}

example { H = 1024; W = 1024; T = 16; I = random(1, -1, 1); K = random(2, -1, 1) }
