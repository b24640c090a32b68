# Develops the raw picture of a camera (Adams et al., the Frankencamera, 2010): hot pixels are held down, the Bayer pattern
# (green, red / blue, green) is filled in along the smaller difference, colours are corrected for the light, and a curve follows.
import "std/math.hb"

size   H, W
input  A: u16[H + 24, W + 32]
input  warm: f32[3, 4]
input  cold: f32[3, 4]
input  kelvin: f32
input  gamma: f32
input  contrast: f32
input  black: i16
input  white: i16
output O: u8[3, H, W]

def alike(a, b, c, d) = select(absd(c, d) < absd(a, b), rounding_average(c, d), rounding_average(a, b))
def from(green, g1, g2, c1, c2) = green - rounding_average(g1, g2) + rounding_average(c1, c2)
def sites(even, odd, even1, odd1)[y, x] = select(y % 2 == 0, select(x % 2 == 0, even[y / 2, x / 2], odd[y / 2, x / 2]),
    select(x % 2 == 0, even1[y / 2, x / 2], odd1[y / 2, x / 2]))

raw[y, x]   = i16(A[y + 12, x + 16])
clean[y, x] = clamp(raw[y, x], 0, max(max(raw[y, x - 2], raw[y, x + 2]), max(raw[y - 2, x], raw[y + 2, x])))
g_gr[y, x]  = clean[2 * y, 2 * x]  # green in rows of red
r_r[y, x]   = clean[2 * y, 2 * x + 1]
b_b[y, x]   = clean[2 * y + 1, 2 * x]
g_gb[y, x]  = clean[2 * y + 1, 2 * x + 1]

g_r[y, x]  = alike(g_gb[y - 1, x], g_gb[y, x], g_gr[y, x + 1], g_gr[y, x])
g_b[y, x]  = alike(g_gr[y + 1, x], g_gr[y, x], g_gb[y, x - 1], g_gb[y, x])
r_gr[y, x] = from(g_gr[y, x], g_r[y, x], g_r[y, x - 1], r_r[y, x], r_r[y, x - 1])
b_gr[y, x] = from(g_gr[y, x], g_b[y, x], g_b[y - 1, x], b_b[y, x], b_b[y - 1, x])
r_gb[y, x] = from(g_gb[y, x], g_r[y, x], g_r[y + 1, x], r_r[y, x], r_r[y + 1, x])
b_gb[y, x] = from(g_gb[y, x], g_b[y, x], g_b[y, x + 1], b_b[y, x], b_b[y, x + 1])
r_b[y, x]  = select(absd(r_r[y, x], r_r[y + 1, x - 1]) < absd(r_r[y, x - 1], r_r[y + 1, x]),
    from(g_b[y, x], g_r[y, x], g_r[y + 1, x - 1], r_r[y, x], r_r[y + 1, x - 1]),
    from(g_b[y, x], g_r[y, x - 1], g_r[y + 1, x], r_r[y, x - 1], r_r[y + 1, x]))
b_r[y, x] = select(absd(b_b[y, x], b_b[y - 1, x + 1]) < absd(b_b[y, x + 1], b_b[y - 1, x]),
    from(g_r[y, x], g_b[y, x], g_b[y - 1, x + 1], b_b[y, x], b_b[y - 1, x + 1]),
    from(g_r[y, x], g_b[y, x + 1], g_b[y - 1, x], b_b[y, x + 1], b_b[y - 1, x]))
r = sites(r_gr, r_r, r_b, r_gb)
g = sites(g_gr, g_r, g_b, g_gb)
b = sites(b_gr, b_r, b_b, b_gb)

matrix[c, k]       = let t = (1 / kelvin - 1.0 / 3200) / (1.0 / 7000 - 1.0 / 3200) in i32(256 * (warm[c, k] * t + cold[c, k] * (1 - t)))
corrected[c, y, x] = (matrix[c, 3] + matrix[c, 0] * i32(r[y, x]) + matrix[c, 1] * i32(g[y, x]) + matrix[c, 2] * i32(b[y, x])) / 256
curve[v]           = let t = clamp(f32(v - i64(black)) / (f32(white) - f32(black)), 0, 1) in let s = power(t, 1 / gamma) in
    let q = 2 - exp2(contrast / 100) in let p = 2 - 2 * q in
    u8(255 * select(s > 0.5, 1 - (p * (1 - s) + q) * (1 - s), (p * s + q) * s) + 0.5)
O[c, y, x] = curve[clamp(corrected[c, y, x], 0, 1023)]

schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, yo, ys, 64).split(ys, yi, yy, 2).reorder(yo, yi, c, yy, x).vectorize(x, 64).parallel(yo)
    matrix.compute_root()
    curve.compute_root()
    clean.store_at(O, yo).compute_at(O, yi).vectorize(x, 32)
    g_r.store_at(O, yo).compute_at(O, yi).vectorize(x, 32)
    g_b.store_at(O, yo).compute_at(O, yi).vectorize(x, 32)
    r.compute_at(O, yi).split(y, yp, ys, 2).split(x, xp, xs, 2).reorder(yp, xp, ys, xs).unroll(ys).unroll(xs).vectorize(xp, 32)
    g.compute_at(O, yi).split(y, yp, ys, 2).split(x, xp, xs, 2).reorder(yp, xp, ys, xs).unroll(ys).unroll(xs).vectorize(xp, 32)
    b.compute_at(O, yi).split(y, yp, ys, 2).split(x, xp, xs, 2).reorder(yp, xp, ys, xs).unroll(ys).unroll(xs).vectorize(xp, 32)
}

example {
    W = 2560; H = 1920; A = random(1, 0, 1024); warm = random(2, -0.5, 1); cold = random(3, -0.5, 1)
    kelvin = 3700; gamma = 2; contrast = 50; black = 25; white = 1023
}
