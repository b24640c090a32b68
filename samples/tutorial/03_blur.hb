# 3. A 3 x 3 blur: two stages, and where the first is computed.
#
# `P = clamp_edge(I)` names the photo continued beyond its border, so that P[y, x - 1, c] is fine at
# x = 0. Three neighbours in a row are summed (as u16: three bytes do not fit into one), then three
# such sums in a column.
#
# By default `rows` is substituted into O: each sum of three is computed three times.
# `rows.compute_at(O, yo)` computes it for a strip of 32 rows at a time, just what the strip needs (34
# rows), in memory that stays in the cache. Try `rows.compute_root()` for the whole picture first;
# the result is the same, and `hbc compile 03_blur.hb --emit loops` shows the difference.

size   H, W
input  I: u8[H, W, 3]
output O: u8[H, W, 3]

P = clamp_edge(I)
rows[y, x, c] = u16(P[y, x - 1, c]) + u16(P[y, x, c]) + u16(P[y, x + 1, c])
O[y, x, c]    = u8((rows[y - 1, x, c] + rows[y, x, c] + rows[y + 1, x, c]) / 9)

schedule portable for c {
    O.split(y, yo, yi, 32).parallel(yo)
    rows.compute_at(O, yo)
}
schedule fast for avx512, avx2 {
    O.split(y, yo, yi, 32).fuse(x, c, xc).vectorize(xc, 32).parallel(yo)
    rows.compute_at(O, yo).fuse(x, c, xc).vectorize(xc, 32)
}

example { I = file("../data/astronaut.png") }
