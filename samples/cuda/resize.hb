# Separable 3-lobe Lanczos resampling of a picture of three planes of half floats, rows first, then columns, for
# NVIDIA's GPUs.
#
# As in `resize`: outputs in groups (16 rows, 16 columns) share the first of TH (TW) source positions, clamped to
# the picture: what lies outside a tap's own window has weight 0. Columns' first positions are multiples of 8, so that
# windows begin at 16 bytes. TH >= 21 H / OH + 1 and TW >= 21 W / OW + 8 cover every window, and so do H and W.
# Weights and the picture at its new height are f16, sums f32.

size   H, W, OH, OW, TH, TW
input  I: f16[3, H, W]
output O: f32[3, OH, OW]
require TH <= H, "TH, the taps of a column, must not exceed the height H"
require TW <= W, "TW, the taps of a row, must not exceed the width W"
require (W - TW) % 8 == 0, "TW, the taps of a row, must be a multiple of 8 less than the width W, or equal to it"

reduce i in TH, j in TH, s in TW, t in TW

# Rows: first source row of each group, weights, and the picture at its new height.
top[g]           = i32(clamp(((32 * g + 1) * H - OH - 6 * max(H, OH)) / (2 * OH) + 1, 0, H - TH))
zy[y, k]         = f32(2 * OH * (top[y / 16] + k) - (2 * y + 1) * H + OH) / f32(2 * max(H, OH))
ny[y, k]         = select(zy[y, k] == 0, 1, pi * zy[y, k])
ly[y, k]         = select(zy[y, k] == 0, 1, 3 * sin(ny[y, k]) * sin(ny[y, k] / 3) / (ny[y, k] * ny[y, k]))
wy[y, k]         = select(abs(zy[y, k]) < 3, ly[y, k], 0)
sy[y]            = 0
sy[y]           += wy[y, i]
down[y, k]       = f16(wy[y, k] / sy[y])
near[c, g, k, x] = I[c, clamp(top[g], 0, H - TH) + k, x]
tall[c, y, x]    = 0
tall[c, y, x]   += f32(down[y, j]) * f32(near[c, y / 16, j, x])
rows[c, y, x]    = f16(tall[c, y, x])

# Columns; the weights lie with x innermost.
eighth[g]         = i32(clamp(((32 * g + 1) * W - OW - 6 * max(W, OW)) / (2 * OW) + 1, 0, W - TW) / 8)
zx[u, x]          = f32(2 * OW * (8 * eighth[x / 16] + u) - (2 * x + 1) * W + OW) / f32(2 * max(W, OW))
nx[u, x]          = select(zx[u, x] == 0, 1, pi * zx[u, x])
lx[u, x]          = select(zx[u, x] == 0, 1, 3 * sin(nx[u, x]) * sin(nx[u, x] / 3) / (nx[u, x] * nx[u, x]))
wx[u, x]          = select(abs(zx[u, x]) < 3, lx[u, x], 0)
sx[x]             = 0
sx[x]            += wx[s, x]
across[u, x]      = f16(wx[u, x] / sx[x])
strip[c, y, g, u] = rows[c, y, 8 * clamp(eighth[g], 0, (W - TW) / 8) + u]
wide[c, y, x]     = 0
wide[c, y, x]    += f32(strip[c, y, x / 16, t]) * f32(across[t, x])
O[c, y, x]        = wide[c, y, x]

# CUDA cores. A thread makes the sums of one column for a group of rows, which share the loads of the picture.
schedule simt for cuda {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root()
    eighth.compute_root(); wx.compute_root(); sx.compute_root(); across.compute_root()
    rows.compute_root().split(y, yo, yi, 16).split(x, xo, xi, 128).reorder(c, yo, xo, xi, yi)
    rows.gpu_blocks(c, yo, xo).gpu_threads(xi).unroll(yi)
    tall.compute_at(rows, xi).store_in(registers).unroll(y)
    tall.update.reorder(c, x, j, y).unroll(y)
    O.split(y, yo, yi, 8).split(x, xo, xi, 16).reorder(c, yo, xo, yi, xi)
    O.gpu_blocks(c, yo, xo).gpu_threads(yi, xi)
    wide.compute_at(O, xi).store_in(registers)
}

# Tensor cores. Four warps make 16 rows of 64 columns each, 16 x 16 of them as a fragment: their weights are a
# matrix, and so are the rows of the picture below their first one. Then the same across.
schedule wmma for cuda {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root()
    eighth.compute_root(); wx.compute_root(); sx.compute_root(); across.compute_root()
    rows.compute_root().split(y, yo, yi, 16).split(x, xo, xi, 64).split(xi, xw, xv, 16)
    rows.reorder(c, yo, xo, xw, yi, xv).gpu_blocks(c, yo, xo).gpu_threads(xw).vectorize(yi).vectorize(xv)
    tall.compute_at(rows, xo).store_in(wmma_accumulator).split(x, xw, xv, 16).reorder(c, xw, y, xv)
    tall.gpu_threads(xw).vectorize(y).vectorize(xv)
    tall.update.split(j, jo, ji, 32).split(ji, jt, jv, 16).split(x, xw, xv, 16)
    tall.update.reorder(c, jo, xw, jt, y, xv, jv).gpu_threads(xw).unroll(jt)
    tall.update.atomic().vectorize(y).vectorize(xv).vectorize(jv)
    down.in(tall).compute_at(tall.update, jo).store_in(shared).pad_storage(k, 40)
    near.compute_at(tall.update, jo).store_in(shared).pad_storage(x, 72).vectorize(x, 8)
    O.split(y, yo, yi, 64).split(yi, yw, yv, 16).split(x, xo, xi, 16).reorder(c, yo, xo, yw, yv, xi)
    O.gpu_blocks(c, yo, xo).gpu_threads(yw).vectorize(yv).vectorize(xi)
    wide.compute_at(O, xo).store_in(wmma_accumulator).split(y, yw, yv, 16).reorder(c, yw, yv, x)
    wide.gpu_threads(yw).vectorize(yv).vectorize(x)
    wide.update.split(t, to, ti, 32).split(ti, tt, tv, 16).split(y, yw, yv, 16)
    wide.update.reorder(c, to, yw, tt, yv, x, tv).gpu_threads(yw).unroll(tt)
    wide.update.atomic().vectorize(yv).vectorize(x).vectorize(tv)
    strip.compute_at(wide.update, to).store_in(shared).pad_storage(u, 40)
    across.in(wide).compute_at(wide.update, to).store_in(shared)
}

# The same by mma.sync. A block makes 16 rows of 256 columns, then 64 rows of 16; all that is multiplied comes by 16
# bytes ahead of its use, and from there by `ldmatrix`. Weights serve four tiles of columns, or two of rows.
schedule mma for cuda {
    top.compute_root(); wy.compute_root(); sy.compute_root(); down.compute_root().pad_storage(k, 8)
    eighth.compute_root(); wx.compute_root(); sx.compute_root(); across.compute_root().pad_storage(x, 8)
    rows.compute_root().pad_storage(x, 8).split(y, yo, yi, 16).split(x, xo, xi, 256).split(xi, xw, xj, 64)
    rows.split(xj, xt, xv, 16).reorder(c, yo, xo, xw, xt, yi, xv).gpu_blocks(c, yo, xo).gpu_threads(xw)
    rows.unroll(xt).vectorize(yi).vectorize(xv)
    tall.compute_at(rows, xo).store_in(mma_accumulator).split(x, xw, xj, 64).split(xj, xt, xv, 16)
    tall.reorder(c, xw, xt, y, xv).gpu_threads(xw).unroll(xt).vectorize(y).vectorize(xv)
    tall.update.split(j, jo, ji, 32).split(ji, jt, jv, 16).split(x, xw, xj, 64).split(xj, xt, xv, 16)
    tall.update.reorder(c, jo, xw, jt, xt, y, xv, jv).pipeline(jo, 3).gpu_threads(xw).unroll(jt).unroll(xt)
    tall.update.atomic().vectorize(y).vectorize(xv).vectorize(jv)
    down.in(tall).compute_at(tall.update, jo).store_in(shared).pad_storage(k, 40).vectorize(k, 8)
    near.compute_at(tall.update, jo).store_in(shared).pad_storage(x, 264).vectorize(x, 8)
    O.split(y, yo, yi, 64).split(yi, yw, yj, 32).split(yj, yt, yv, 16).split(x, xo, xi, 16)
    O.reorder(c, yo, xo, yw, yt, yv, xi).gpu_blocks(c, yo, xo).gpu_threads(yw).unroll(yt).vectorize(yv).vectorize(xi)
    wide.compute_at(O, xo).store_in(mma_accumulator).split(y, yw, yj, 32).split(yj, yt, yv, 16)
    wide.reorder(c, yw, yt, yv, x).gpu_threads(yw).unroll(yt).vectorize(yv).vectorize(x)
    wide.update.split(t, to, ti, 64).split(ti, tt, tv, 16).split(y, yw, yj, 32).split(yj, yt, yv, 16)
    wide.update.reorder(c, to, yw, tt, yt, yv, x, tv).pipeline(to, 2).gpu_threads(yw).unroll(tt).unroll(yt)
    wide.update.atomic().vectorize(yv).vectorize(x).vectorize(tv)
    strip.compute_at(wide.update, to).store_in(shared).pad_storage(u, 72).vectorize(u, 8)
    across.in(wide).compute_at(wide.update, to).store_in(shared).pad_storage(x, 24).vectorize(x, 8)
}

example { H = 2048; W = 2048; OH = 245; OW = 245; TH = 177; TW = 184; I = random(1) }
