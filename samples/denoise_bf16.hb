# Removes noise from a picture by coring in the frequency domain, with products of bf16.
#
# As in `denoise`, but the four products that the DCT of a tile and its inverse are take bf16, summed
# in f32: with them, folding the DCT's even and odd rows would save nothing. What is compared with
# the threshold is f32. bf16 has 8 bits: what a tile has in the middle is taken off before and added after.

size   H, W
param  threshold: f32 = 0.2
input  I: f32[H, W, 3]
output O: f32[H, W, 3]

table window: f32[16] [k] = f32(0.5 - 0.5 * cos(pi * (f64(k) + 0.5) / 8))
table D: bf16[16, 16] [u, k] =
    bf16(f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32)))
table E: bf16[16, 16] [k, u] =
    bf16(f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32)))

reduce k0 in 16, k1 in 16, k2 in 16, k3 in 16

# Tile (r, s) of channel c covers the pixels from row 8 r - 8 and column 8 s - 8, mirrored.
row[y]               = min((y - 8) % (2 * H), 2 * H - 1 - (y - 8) % (2 * H))
column[x]            = min((x - 8) % (2 * W), 2 * W - 1 - (x - 8) % (2 * W))
plane[c, y, x]       = I[row[y], column[x], c]
middle[c, r, s]      = plane[c, 8 * r + 8, 8 * s + 8]
tile[c, r, s, v, h]  = bf16(plane[c, 8 * r + v, 8 * s + h] - middle[c, r, s])
cols[c, r, s, v, h]  = 0
cols[c, r, s, v, h] += f32(D[v, k0]) * f32(tile[c, r, s, k0, h])
short[c, r, s, v, h] = bf16(cols[c, r, s, v, h])
freq[c, r, s, v, h]  = 0
freq[c, r, s, v, h] += f32(short[c, r, s, v, k1]) * f32(E[k1, h])
cored[c, r, s, v, h] = bf16(select(v + h > 0 and abs(freq[c, r, s, v, h]) < threshold, 0, freq[c, r, s, v, h]))
half[c, r, s, v, h]  = 0
half[c, r, s, v, h] += f32(E[v, k2]) * f32(cored[c, r, s, k2, h])
icols[c, r, s, v, h] = bf16(half[c, r, s, v, h])
back[c, r, s, v, h]  = 0
back[c, r, s, v, h] += f32(icols[c, r, s, v, k3]) * f32(D[k3, h])
done[c, r, s, v, h]  = (back[c, r, s, v, h] + middle[c, r, s]) * (window[v] * window[h])

upper[c, y, x] = done[c, y / 8, x / 8, y % 8 + 8, x % 8 + 8] + done[c, y / 8, x / 8 + 1, y % 8 + 8, x % 8]
lower[c, y, x] = done[c, y / 8 + 1, x / 8, y % 8, x % 8 + 8] + done[c, y / 8 + 1, x / 8 + 1, y % 8, x % 8]
O[y, x, c]     = upper[c, y, x] + lower[c, y, x]

schedule portable for c {
    O.split(y, yo, yt, 64).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt)
    done.store_at(O, c).compute_at(O, yt)
    tile.compute_at(done, s)
    cols.compute_at(done, s)
    cols.update.reorder(c, r, s, v, k0, h)
    short.compute_at(done, s)
    freq.compute_at(done, s)
    freq.update.reorder(c, r, s, v, k1, h)
    cored.compute_at(done, s)
    half.compute_at(done, s)
    half.update.reorder(c, r, s, v, k2, h)
    icols.compute_at(done, s)
    back.compute_at(done, s)
    back.update.reorder(c, r, s, v, k3, h)
}

# Each product has the 16 vectors of a tile in registers, and takes two values of a lane at a time.
schedule dot for avx512bf16 {
    O.split(y, yo, yt, 128).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    O.vectorize(x, 8)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt).vectorize(x, 16)
    done.store_at(O, c).compute_at(O, yt)
    done.bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    tile.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    cols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(registers).vectorize(h).unroll(v)
    cols.update.split(k0, ko, ki, 2).reorder(c, r, s, ko, v, h, ki).atomic().vectorize(h).unroll(v).vectorize(ki)
    short.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    freq.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(registers).vectorize(h).unroll(v)
    freq.update.split(k1, ko, ki, 2).reorder(c, r, s, ko, v, h, ki).atomic().vectorize(h).unroll(v).vectorize(ki)
    cored.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    half.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(registers).vectorize(h).unroll(v)
    half.update.split(k2, ko, ki, 2).reorder(c, r, s, ko, v, h, ki).atomic().vectorize(h).unroll(v).vectorize(ki)
    icols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    back.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(registers).vectorize(h).unroll(v)
    back.update.split(k3, ko, ki, 2).reorder(c, r, s, ko, v, h, ki).atomic().vectorize(h).unroll(v).vectorize(ki)
}

# Each product is one instruction on 16 x 16 sums.
schedule tiles for amx {
    O.split(y, yo, yt, 128).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    O.vectorize(x, 8)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt).vectorize(x, 16)
    done.store_at(O, c).compute_at(O, yt)
    done.bound(v, 0, 16).bound(h, 0, 16).vectorize(h).vectorize(v)
    tile.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    cols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(amx_tile).vectorize(h).vectorize(v)
    cols.update.atomic().vectorize(v).vectorize(h).vectorize(k0)
    short.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    freq.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(amx_tile).vectorize(h).vectorize(v)
    freq.update.atomic().vectorize(v).vectorize(h).vectorize(k1)
    cored.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    half.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(amx_tile).vectorize(h).vectorize(v)
    half.update.atomic().vectorize(v).vectorize(h).vectorize(k2)
    icols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    back.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).store_in(amx_tile).vectorize(h).vectorize(v)
    back.update.atomic().vectorize(v).vectorize(h).vectorize(k3)
}

example { I = file("data/astronaut.png") }
example noise { H = 1024; W = 1024; I = random(3) }
