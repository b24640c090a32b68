# 3. A 3 x 3 blur: two stages, and where the first is computed.
#
# Three neighbours in a row are summed (as u16: three bytes do not fit into one), then three such sums
# in a column; 4 more before the division round to nearest. The extents say that the result is smaller
# than the photo by a border of one pixel.
#
# By default `rows` is substituted into O, so that each sum of three is computed three times.
# `rows.compute_at(O, yo)` computes it for a strip of 32 rows at a time, just what the strip needs (34
# rows), in memory that stays in the cache. Try `rows.compute_root()`, the whole picture first: the
# result is the same, and `hbc compile 03_blur.hb --emit loops` shows the difference.
#
#     hbc run 03_blur.hb --output O=blurred.png

size   H, W
input  I: u8[H + 2, W + 2, 3]
output O: u8[H, W, 3]

rows[y, x, c] = u16(I[y, x, c]) + u16(I[y, x + 1, c]) + u16(I[y, x + 2, c])
O[y, x, c]    = u8((rows[y, x, c] + rows[y + 1, x, c] + rows[y + 2, x, c] + 4) / 9)

schedule portable for c {
    O.split(y, yo, yi, 32).parallel(yo)
    rows.compute_at(O, yo)
}
schedule fast for avx512, avx2 {
    O.split(y, yo, yi, 32).fuse(x, c, xc).vectorize(xc, 32).parallel(yo)
    rows.compute_at(O, yo).fuse(x, c, xc).vectorize(xc, 32)
}

example { I = file("../data/astronaut.png") }
