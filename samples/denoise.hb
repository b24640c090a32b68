# Removes noise from a picture by coring in the frequency domain.
#
# The picture is cut into 16 x 16 tiles, 8 pixels apart, mirrored at the border. A tile is transformed
# by the orthonormal DCT in columns and rows, coefficients below `threshold` become 0, transformed
# back, windowed and added to its neighbours. The mean of a tile is always kept, and no window comes
# before the transform: it would spread a flat tile over coefficients that coring then removes. So flat
# areas stay as they are. The window is the square of a sine: those of overlapping tiles sum to 1.
#
# Noise of standard deviation s is as strong in each coefficient: a threshold of 2.5 s removes nearly
# all of it. 0.2 is for s = 20 / 255, which it takes from 22.7 to 28.4 dB.
#
# The rows of the DCT are alternately even and odd about the middle, D[u, 15 - k] = +-D[u, k]: down
# the columns of a tile, sums and differences of opposite rows halve the multiplications.

size   H, W
param  threshold: f32 = 0.2
input  I: f32[H, W, 3]
output O: f32[H, W, 3]

table window: f32[16] [k] = f32(0.5 - 0.5 * cos(pi * (f64(k) + 0.5) / 8))
table D: f32[16, 16] [u, k] = f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32))
table E: f32[16, 16] [k, u] = f32(sqrt(select(u == 0, f64(0.0625), 0.125)) * cos(pi * f64((2 * k + 1) * u) / 32))

reduce k0 in 8, k1 in 16, k2 in 8, k3 in 16

# Tile (r, s) of channel c covers the pixels from row 8 r - 8 and column 8 s - 8, mirrored.
row[y]              = min((y - 8) % (2 * H), 2 * H - 1 - (y - 8) % (2 * H))
column[x]           = min((x - 8) % (2 * W), 2 * W - 1 - (x - 8) % (2 * W))
plane[c, y, x]      = I[row[y], column[x], c]
tile[c, r, s, v, h] = plane[c, 8 * r + v, 8 * s + h]
# Sums of opposite rows in 0 .. 8, their differences in 8 .. 16.
folded[c, r, s, v, h] = select(v < 8, tile[c, r, s, v % 8, h] + tile[c, r, s, 15 - v % 8, h],
    tile[c, r, s, v % 8, h] - tile[c, r, s, 15 - v % 8, h])
cols[c, r, s, v, h]  = 0
cols[c, r, s, v, h] += D[v, k0] * folded[c, r, s, k0 + v % 2 * 8, h]
freq[c, r, s, v, h]  = 0
freq[c, r, s, v, h] += cols[c, r, s, v, k1] * E[k1, h]
cored[c, r, s, v, h] = select(v + h > 0 and abs(freq[c, r, s, v, h]) < threshold, 0, freq[c, r, s, v, h])
# Contributions of the even rows in 0 .. 8, of the odd ones in 8 .. 16.
half[c, r, s, v, h]  = 0
half[c, r, s, v, h] += E[v % 8, 2 * k2 + v / 8] * cored[c, r, s, 2 * k2 + v / 8, h]
icols[c, r, s, v, h] = select(v < 8, half[c, r, s, v % 8, h] + half[c, r, s, v % 8 + 8, h],
    half[c, r, s, (15 - v) % 8, h] - half[c, r, s, (15 - v) % 8 + 8, h])
back[c, r, s, v, h]  = 0
back[c, r, s, v, h] += icols[c, r, s, v, k3] * D[k3, h]
done[c, r, s, v, h]  = back[c, r, s, v, h] * (window[v] * window[h])

upper[c, y, x] = done[c, y / 8, x / 8, y % 8 + 8, x % 8 + 8] + done[c, y / 8, x / 8 + 1, y % 8 + 8, x % 8]
lower[c, y, x] = done[c, y / 8 + 1, x / 8, y % 8, x % 8 + 8] + done[c, y / 8 + 1, x / 8 + 1, y % 8, x % 8]
O[y, x, c]     = upper[c, y, x] + lower[c, y, x]

schedule portable for c {
    O.split(y, yo, yt, 64).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt)
    done.store_at(O, c).compute_at(O, yt)
    folded.compute_at(done, s)
    cols.compute_at(done, s)
    cols.update.reorder(c, r, s, v, k0, h)
    freq.compute_at(done, s)
    freq.update.reorder(c, r, s, v, k1, h)
    cored.compute_at(done, s)
    half.compute_at(done, s)
    half.update.reorder(c, r, s, v, k2, h)
    icols.compute_at(done, s)
    back.compute_at(done, s)
    back.update.reorder(c, r, s, v, k3, h)
}

# Strips of 128 rows, in which a row of tiles is kept for the next; each product has the 16 vectors of
# a tile in registers.
schedule fast for avx512 {
    O.split(y, yo, yt, 128).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    O.vectorize(x, 8)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt).vectorize(x, 16)
    done.store_at(O, c).compute_at(O, yt)
    done.bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    folded.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    cols.in(freq).compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    cols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    cols.update.reorder(c, r, s, k0, v, h).vectorize(h).unroll(v)
    freq.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    freq.update.reorder(c, r, s, k1, v, h).vectorize(h).unroll(v)
    cored.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    half.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    half.update.reorder(c, r, s, k2, v, h).vectorize(h).unroll(v)
    icols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    back.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h).unroll(v)
    back.update.reorder(c, r, s, k3, v, h).vectorize(h).unroll(v)
}

# A tile is 32 vectors of 8: rows go through the registers four at a time.
schedule narrow for avx2 {
    O.split(y, yo, yt, 128).split(yt, yt, yi, 8).reorder(yo, c, yt, yi, x).parallel(yo)
    O.vectorize(x, 8)
    row.compute_root(); column.compute_root()
    plane.store_at(O, c).compute_at(O, yt).vectorize(x, 8)
    done.store_at(O, c).compute_at(O, yt)
    done.bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8)
    folded.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8).unroll(v)
    cols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8)
    cols.update.split(v, v, vi, 4).reorder(c, r, s, v, k0, vi, h).vectorize(h, 8).unroll(h).unroll(vi)
    freq.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8)
    freq.update.split(v, v, vi, 4).reorder(c, r, s, v, k1, vi, h).vectorize(h, 8).unroll(h).unroll(vi)
    cored.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8).unroll(v)
    half.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8)
    half.update.split(v, v, vi, 4).reorder(c, r, s, v, k2, vi, h).vectorize(h, 8).unroll(h).unroll(vi)
    icols.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8).unroll(v)
    back.compute_at(done, s).bound(v, 0, 16).bound(h, 0, 16).vectorize(h, 8)
    back.update.split(v, v, vi, 4).reorder(c, r, s, v, k3, vi, h).vectorize(h, 8).unroll(h).unroll(vi)
}

example { I = file("data/astronaut.png") }
example noise { H = 1024; W = 1024; I = random(3) }
