# Smooths a picture but for its edges (Chen, Paris, Durand 2007): pixels are gathered in a grid of S x S pixels and
# `bins` values a cell, which is blurred along its three axes and read again at each pixel's place and value.
import "std/math.hb"

size   H, W
param  S: i32 = 8
param  bins: i32 = 10
input  A: f32[H, W]
output O: f32[H, W]

def binomial(a, b, c, d, e) = a + 4 * b + 6 * c + 4 * d + e

edge = clamp_edge(A)
level[y, x] = clamp(edge[y, x], 0, 1) * f32(bins)

reduce v in S, u in S
near[v, u, y, x] = level[S * y + v - S / 2, S * x + u - S / 2]
grid[c, z, y, x] = 0.0
grid[c, clamp(i32(near[v, u, y, x] + 0.5), 0, bins), y, x] += select(c == 0, near[v, u, y, x], f32(bins))
deep[c, z, y, x] = binomial(grid[c, z - 2, y, x], grid[c, z - 1, y, x], grid[c, z, y, x], grid[c, z + 1, y, x], grid[c, z + 2, y, x])
wide[c, z, y, x] = binomial(deep[c, z, y, x - 2], deep[c, z, y, x - 1], deep[c, z, y, x], deep[c, z, y, x + 1], deep[c, z, y, x + 2])
high[c, z, y, x] = binomial(wide[c, z, y - 2, x], wide[c, z, y - 1, x], wide[c, z, y, x], wide[c, z, y + 1, x], wide[c, z, y + 2, x])

row[c, z, y, x]  = lerp(high[c, z, y / S, x], high[c, z, y / S + 1, x], f32(y % S) / f32(S))
cell[c, z, y, x] = lerp(row[c, z, y, x / S], row[c, z, y, x / S + 1], f32(x % S) / f32(S))
mean[c, y, x]    = let z = clamp(i32(level[y, x]), 0, bins) in lerp(cell[c, z, y, x], cell[c, z + 1, y, x], level[y, x] - f32(z))
O[y, x]          = mean[0, y, x] / mean[1, y, x]

schedule rows for c, avx2, avx512, arm_dot {
    O.vectorize(x, 16).parallel(y, 8)
    row.compute_at(O, y_p).vectorize(x, 16)
    high.compute_at(O, y).vectorize(x, 16)
    wide.compute_root().reorder(y, c, z, x).vectorize(x, 16).parallel(y)
    deep.compute_at(wide, y).vectorize(x, 16)
    grid.compute_at(wide, y)
    grid.update.reorder(y, x, v, u, c)
}

example { W = 1536; H = 2560; A = random(1) }
