# Fills what is transparent in a picture (its fourth channel) with the colours around it: a pyramid of L levels,
# premultiplied, of which each shows where the finer ones have nothing.
size   H, W
param  L: i32 = 10
input  A: f32[4, H, W]
output O: f32[3, H, W]
require 1 <= H and 1 <= W

def down_y(f)[c, y, x] = (f[c, 2 * y - 1, x] + 2 * f[c, 2 * y, x] + f[c, 2 * y + 1, x]) / 4
def down_x(f)[c, y, x] = (f[c, y, 2 * x - 1] + 2 * f[c, y, 2 * x] + f[c, y, 2 * x + 1]) / 4
def up_y(f)[c, y, x]   = (f[c, y / 2, x] + f[c, (y + 1) / 2, x]) / 2
def up_x(f)[c, y, x]   = (f[c, y, x / 2] + f[c, y, (x + 1) / 2]) / 2

edge = clamp_edge(A)
p[0][c, y, x] = edge[c, y, x] * select(c < 3, edge[3, y, x], 1)
for l in 1 .. L {
    v[l] = down_y(p[l - 1])
    d[l] = down_x(v[l])
    p[l][c, y, x] = d[l][c, clamp(y, 0, (H - 1) / (1 << l)), clamp(x, 0, (W - 1) / (1 << l))]
}

i[L - 1][c, y, x] = p[L - 1][c, y, x]
for t in 2 .. L + 1 {
    u[L - t] = up_y(i[L - t + 1])
    i[L - t][c, y, x] = p[L - t][c, y, x] + (1 - p[L - t][3, y, x]) * up_x(u[L - t])[c, y, x]
}
O[c, y, x] = i[0][c, y, x] / i[0][3, y, x]

schedule levels for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32, tail = guard).reorder(yo, yi, x, c).vectorize(x, 16).unroll(c).parallel(yo)
    d[1 ..].compute_root().reorder(y, c, x).parallel(y, 8)
    d[1 .. 4].vectorize(x, 16)
    v[1].compute_at(d[1], y_p).reorder(y, x, c).vectorize(x, 16).unroll(c)
    v[2].compute_at(d[2], y_p).vectorize(x, 16)
    v[3].compute_at(d[3], y_p).vectorize(x, 16)
    u[0].compute_at(O, yi).vectorize(x, 16)
    i[1 ..].store_at(O, yo).compute_at(O, yi)
    i[1 .. 6].vectorize(x, 16)
}

example { W = 1536; H = 2560; A = random(1) }
