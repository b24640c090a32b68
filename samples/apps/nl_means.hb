# Non-local means (Buades, Coll, Morel 2005): each pixel is the mean of those within a square of S pixels around it,
# weighted by how alike the squares of P pixels around both are.
import "std/math.hb"

size   H, W
param  P: i32 = 7
param  S: i32 = 7
input  A: f32[3, H, W]
input  sigma: f32
output O: f32[3, H, W]

edge = clamp_edge(A)

reduce r in P, v in S, u in S
far[v, u, c, y, x] = square(edge[c, y, x] - edge[c, y + v - S / 2, x + u - S / 2])
d[v, u, y, x]      = far[v, u, 0, y, x] + far[v, u, 1, y, x] + far[v, u, 2, y, x]
down[v, u, y, x]   = sum(r: d[v, u, y + r - P / 2, x])
patch[v, u, y, x]  = sum(r: down[v, u, y, x + r - P / 2])
w[v, u, y, x]      = exp(-patch[v, u, y, x] / (sigma * sigma * f32(P * P)))
total[c, y, x]     = 0
total[c, y, x]    += w[v, u, y, x] * select(c < 3, edge[c, y + v - S / 2, x + u - S / 2], 1)
O[c, y, x]         = clamp(total[c, y, x] / total[3, y, x], 0, 1)

schedule tiles for c, avx2, avx512, arm_dot {
    O.tile(y, x, yo, xo, yi, xi, 32, 64).reorder(yo, xo, c, yi, xi).vectorize(xi, 16).parallel(yo)
    total.compute_at(O, xo).vectorize(x, 16)
    total.update.reorder(v, u, y, x, c).vectorize(x, 16).unroll(c)
    d.compute_at(total.update, u).vectorize(x, 16)
    down_sum.compute_at(total.update, u).vectorize(x, 16)
    down_sum.update.reorder(y, x, r).vectorize(x, 16)
    patch_sum.compute_at(total.update, y).vectorize(x, 16)
    patch_sum.update.reorder(y, x, r).vectorize(x, 16)
}

example { W = 614; H = 1024; A = random(1); sigma = 0.12 }
