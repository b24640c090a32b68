# Removes noise from a picture by coring in the frequency domain, with products of half floats, for
# NVIDIA's GPUs.
#
# As in `denoise`, but the four products that the DCT of a tile and its inverse are take f16, summed in
# f32. What is compared with the threshold is f32.

size   H, W
param  threshold: f32 = 0.2
input  I: f32[H, W, 3]
output O: f32[H, W, 3]

table window: f32[16] [k] = f32(0.5 - 0.5 * cos(pi * (f64(k) + 0.5) / 8))
table D: f16[16, 16] [u, k] =
    f16(f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32)))
table E: f16[16, 16] [k, u] =
    f16(f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32)))

reduce k0 in 16, k1 in 16, k2 in 16, k3 in 16

# Tile (r, s) of channel c covers the pixels from row 8 r - 8 and column 8 s - 8, mirrored.
row[y]               = min((y - 8) % (2 * H), 2 * H - 1 - (y - 8) % (2 * H))
column[x]            = min((x - 8) % (2 * W), 2 * W - 1 - (x - 8) % (2 * W))
plane[c, y, x]       = I[row[y], column[x], c]
tile[c, r, s, v, h]  = f16(plane[c, 8 * r + v, 8 * s + h])
cols[c, r, s, v, h]  = 0
cols[c, r, s, v, h] += f32(D[v, k0]) * f32(tile[c, r, s, k0, h])
short[c, r, s, v, h] = f16(cols[c, r, s, v, h])
freq[c, r, s, v, h]  = 0
freq[c, r, s, v, h] += f32(short[c, r, s, v, k1]) * f32(E[k1, h])
cored[c, r, s, v, h] = f16(select(v + h > 0 and abs(freq[c, r, s, v, h]) < threshold, 0, freq[c, r, s, v, h]))
half[c, r, s, v, h]  = 0
half[c, r, s, v, h] += f32(E[v, k2]) * f32(cored[c, r, s, k2, h])
icols[c, r, s, v, h] = f16(half[c, r, s, v, h])
back[c, r, s, v, h]  = 0
back[c, r, s, v, h] += f32(icols[c, r, s, v, k3]) * f32(D[k3, h])
done[c, r, s, v, h]  = back[c, r, s, v, h] * (window[v] * window[h])

upper[c, y, x] = done[c, y / 8, x / 8, y % 8 + 8, x % 8 + 8] + done[c, y / 8, x / 8 + 1, y % 8 + 8, x % 8]
lower[c, y, x] = done[c, y / 8 + 1, x / 8, y % 8, x % 8 + 8] + done[c, y / 8 + 1, x / 8 + 1, y % 8, x % 8]
O[y, x, c]     = upper[c, y, x] + lower[c, y, x]

# Tensor cores. A block makes 64 x 56 pixels of a channel, eight rows at a time. For them it needs one
# more row of eight tiles, each of which a warp takes through its four products; what the next rows need
# of it stays in shared memory.
schedule wmma for cuda {
    O.split(y, yo, yt, 64, tail = guard).split(yt, yt, yi, 8).split(x, xo, xt, 56, tail = guard).split(xt, xi, xl, 32)
    O.reorder(yo, xo, c, yt, yi, xl, xi).gpu_blocks(yo, xo, c).gpu_threads(yi, xl).unroll(xi)
    row.compute_root(); column.compute_root()
    done.store_at(O, c).compute_at(O, yt).store_in(shared).bound(v, 0, 16).bound(h, 0, 16)
    done.reorder(c, r, s, v, h).gpu_threads(s).vectorize(v).vectorize(h)
    plane.compute_at(done, r).store_in(shared)
    tile.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(v).vectorize(h)
    cols.compute_at(done, s).store_in(wmma_accumulator).bound(v, 0, 16).bound(h, 0, 16)
    cols.vectorize(v).vectorize(h)
    cols.update.atomic().vectorize(v).vectorize(h).vectorize(k0)
    short.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(v).vectorize(h)
    freq.compute_at(done, s).store_in(wmma_accumulator).bound(v, 0, 16).bound(h, 0, 16)
    freq.vectorize(v).vectorize(h)
    freq.update.atomic().vectorize(v).vectorize(h).vectorize(k1)
    cored.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(v).vectorize(h)
    half.compute_at(done, s).store_in(wmma_accumulator).bound(v, 0, 16).bound(h, 0, 16)
    half.vectorize(v).vectorize(h)
    half.update.atomic().vectorize(v).vectorize(h).vectorize(k2)
    icols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(v).vectorize(h)
    back.compute_at(done, s).store_in(wmma_accumulator).bound(v, 0, 16).bound(h, 0, 16)
    back.vectorize(v).vectorize(h)
    back.update.atomic().vectorize(v).vectorize(h).vectorize(k3)
}

# CUDA cores. The same blocks; of each tile a thread has a column, then a row, in registers.
schedule simt for cuda {
    O.split(y, yo, yt, 64, tail = guard).split(yt, yt, yi, 8).split(x, xo, xt, 56, tail = guard).split(xt, xi, xl, 16)
    O.reorder(yo, xo, c, yt, yi, xl, xi).gpu_blocks(yo, xo, c).at_once(4).gpu_threads(yi, xl).unroll(xi)
    row.compute_root(); column.compute_root()
    done.store_at(O, c).compute_at(O, yt).store_in(shared).bound(v, 0, 16).bound(h, 0, 16)
    done.reorder(c, r, s, v, h).gpu_threads(s, v).unroll(h)
    plane.compute_at(done, r).store_in(shared)
    short.compute_at(done, r).bound(v, 0, 16).bound(h, 0, 16).reorder(c, r, s, h, v).gpu_threads(s, h).unroll(v)
    cols.compute_at(short, h).store_in(registers).bound(v, 0, 16).unroll(v)
    cols.update.reorder(c, r, s, h, k0, v).unroll(v).unroll(k0)
    cored.compute_at(done, r).bound(v, 0, 16).bound(h, 0, 16).reorder(c, r, s, v, h).gpu_threads(s, v).unroll(h)
    freq.compute_at(cored, v).store_in(registers).bound(h, 0, 16).unroll(h)
    freq.update.reorder(c, r, s, v, k1, h).unroll(h).unroll(k1)
    icols.compute_at(done, r).bound(v, 0, 16).bound(h, 0, 16).reorder(c, r, s, h, v).gpu_threads(s, h).unroll(v)
    half.compute_at(icols, h).store_in(registers).bound(v, 0, 16).unroll(v)
    half.update.reorder(c, r, s, h, k2, v).unroll(v).unroll(k2)
    back.compute_at(done, v).store_in(registers).bound(h, 0, 16).unroll(h)
    back.update.reorder(c, r, s, v, k3, h).unroll(h).unroll(k3)
}

example { I = file("../data/astronaut.png") }
example noise { H = 1024; W = 1024; I = random(3) }
