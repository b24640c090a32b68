# Separable 3-lobe Lanczos resampling of a picture of three planes, rows first, then columns.
#
#     s = H / OH, and the source coordinate of output row y is  v = (y + 1/2) s - 1/2
#     weight(y, j) = L((j - v) / max(s, 1)),   L(z) = sinc(z) sinc(z / 3) for |z| < 3, else 0
#
# normalised so that the weights of a row sum to 1; columns alike. Outputs in groups (4 rows,
# 16 columns) share the first of TH (TW) source positions, clamped to the image: what lies outside a
# tap's own window has weight 0. TH >= 6 s + 3 s + 1 and TW >= 6 s + 15 s + 1 cover every window.
# Positions are exact integers: (j - v) = (2 OH j - (2 y + 1) H + OH) / (2 OH).

size   H, W, OH, OW, TH, TW
input  I: f32[3, H, W]
output O: f32[3, OH, OW]
require TH <= H, "TH, the taps of a column, must not exceed the height H"
require TW <= W, "TW, the taps of a row, must not exceed the width W"

reduce i in TH, j in TH, s in TW, t in TW

# Rows: first source row of each group of four, weights, and the picture at its new height.
top[g]         = clamp(((8 * g + 1) * H - OH - 6 * max(H, OH)) / (2 * OH) + 1, 0, H - TH)
zy[y, k]       = f32(2 * OH * (top[y / 4] + k) - (2 * y + 1) * H + OH) / f32(2 * max(H, OH))
ny[y, k]       = select(zy[y, k] == 0, 1, pi * zy[y, k])
ly[y, k]       = select(zy[y, k] == 0, 1, 3 * sin(ny[y, k]) * sin(ny[y, k] / 3) / (ny[y, k] * ny[y, k]))
wy[y, k]       = select(abs(zy[y, k]) < 3, ly[y, k], 0)
sy[y]          = 0
sy[y]         += wy[y, i]
down[y, k]     = wy[y, k] / sy[y]
tall[c, y, x]  = 0
tall[c, y, x] += down[y, j] * I[c, clamp(top[y / 4], 0, H - TH) + j, x]
rows[c, y, x]  = tall[c, y, x]

# Columns, in groups of sixteen; the weights lie with x innermost.
left[g]        = clamp(((32 * g + 1) * W - OW - 6 * max(W, OW)) / (2 * OW) + 1, 0, W - TW)
zx[u, x]       = f32(2 * OW * (left[x / 16] + u) - (2 * x + 1) * W + OW) / f32(2 * max(W, OW))
nx[u, x]       = select(zx[u, x] == 0, 1, pi * zx[u, x])
lx[u, x]       = select(zx[u, x] == 0, 1, 3 * sin(nx[u, x]) * sin(nx[u, x] / 3) / (nx[u, x] * nx[u, x]))
wx[u, x]       = select(abs(zx[u, x]) < 3, lx[u, x], 0)
sx[x]          = 0
sx[x]         += wx[s, x]
across[u, x]   = wx[u, x] / sx[x]
wide[c, y, x]  = 0
wide[c, y, x] += across[t, x] * rows[c, y, clamp(left[x / 16], 0, W - TW) + t]
O[c, y, x]     = wide[c, y, x]

schedule portable for c {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root()
    left.compute_root(); wx.compute_root(); sx.compute_root(); across.compute_root()
    O.split(y, yo, yi, 8).split(x, xo, xi, 16).reorder(yo, c, xo, yi, xi).parallel(yo)
    rows.compute_at(O, c).split(y, yo, yi, 4).split(x, xo, xi, 64).reorder(c, yo, xo, yi, xi)
    tall.compute_at(rows, xo)
    tall.update.reorder(c, j, y, x)
    wide.compute_at(O, xo)
    wide.update.reorder(c, t, y, x)
}

# Strips of 8 rows: first 4 rows by 4 vectors share loads of the picture, then 8 rows of 16 outputs
# share loads of the weights.
schedule fast for avx512 {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root()
    left.compute_root(); wx.compute_root().vectorize(x, 16); sx.compute_root(); across.compute_root()
    O.split(y, yo, yi, 8).split(x, xo, xi, 16).reorder(yo, c, xo, yi, xi)
    O.vectorize(xi).unroll(yi).parallel(yo)
    rows.compute_at(O, c).split(y, yo, yi, 4).split(x, xo, xi, 64).reorder(c, yo, xo, yi, xi)
    rows.vectorize(xi, 16).unroll(xi).unroll(yi)
    tall.compute_at(rows, xo).store_in(registers).vectorize(x, 16).unroll(x).unroll(y)
    tall.update.reorder(c, j, y, x).vectorize(x, 16).unroll(x).unroll(y).prefetch(I, j, 16, L2)
    wide.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(y)
    wide.update.reorder(c, t, y, x).vectorize(x, 16).unroll(y)
}

schedule narrow for avx2 {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root()
    left.compute_root(); wx.compute_root().vectorize(x, 8); sx.compute_root(); across.compute_root()
    O.split(y, yo, yi, 4).split(x, xo, xi, 16).reorder(yo, c, xo, yi, xi)
    O.vectorize(xi, 8).unroll(xi).unroll(yi).parallel(yo)
    rows.compute_at(O, c).split(y, yo, yi, 4).split(x, xo, xi, 16).reorder(c, yo, xo, yi, xi)
    rows.vectorize(xi, 8).unroll(xi).unroll(yi)
    tall.compute_at(rows, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    tall.update.reorder(c, j, y, x).vectorize(x, 8).unroll(x).unroll(y)
    wide.compute_at(O, xo).store_in(registers).vectorize(x, 8).unroll(x).unroll(y)
    wide.update.reorder(c, t, y, x).vectorize(x, 8).unroll(x).unroll(y)
}

example { H = 2048; W = 2048; OH = 245; OW = 245; TH = 77; TW = 177; I = random(1) }
example photo { OH = 143; OW = 143; TH = 34; TW = 77; I = file("data/astronaut.png") }
example tiny { H = 2048; W = 2048; OH = 143; OW = 143; TH = 130; TW = 302; I = random(1) }
example half { H = 2048; W = 2048; OH = 450; OW = 450; TH = 42; TW = 97; I = random(1) }
example large { H = 2048; W = 2048; OH = 921; OW = 921; TH = 22; TW = 48; I = random(1) }
