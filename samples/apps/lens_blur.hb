# A picture as a lens with a wide aperture takes it, from a stereo pair: the matching costs of Z shifts are made smooth
# by pyramids, weighted by how sure each pixel is; the best shift is the depth; each pixel then gathers from a disc.
import "std/math.hb"

size   H, W
param  Z: i32 = 32
param  L: i32 = 8
param  R: i32 = 8
param  S: i32 = 32
input  left: u8[3, H, W]
input  right: u8[3, H, W]
input  focus: i32
input  scale: f32
output O: f32[3, H, W]
require 1 <= H and 1 <= W

def down_y(f)[z, y, x] = (f[z, 2 * y - 1, x] + 3 * (f[z, 2 * y, x] + f[z, 2 * y + 1, x]) + f[z, 2 * y + 2, x]) / 8
def down_x(f)[z, y, x] = (f[z, y, 2 * x - 1] + 3 * (f[z, y, 2 * x] + f[z, y, 2 * x + 1]) + f[z, y, 2 * x + 2]) / 8
def up_y(f)[z, y, x]   = 0.25 * f[z, (y + 1) / 2 - 1 + y % 2, x] + 0.75 * f[z, y / 2, x]
def up_x(f)[z, y, x]   = 0.25 * f[z, y, (x + 1) / 2 - 1 + x % 2] + 0.75 * f[z, y, x / 2]

# How far the pixel is from the better of two neighbours at twice the shift.
l = clamp_edge(left)
r = clamp_edge(right)
def apart(c, z, y, x) = let a = l[c, y, x] in f32(min(absd(a, r[c, y, x + 2 * z]), absd(a, r[c, y, x + 2 * z + 1])))
cost[z, y, x] = square(apart(0, z, y, x)) + square(apart(1, z, y, x)) + square(apart(2, z, y, x))
mean[y, x]    = sum(k in 0 .. Z: cost[k, y, x]) / f32(Z)
sure[y, x]    = sum(k in 0 .. Z: square(cost[k, y, x])) / f32(Z) - square(mean[y, x])

# Plane Z has the weights alone. Of each level b has the border that the next smaller one reads, p that of the next larger.
d[0][z, y, x] = sure[y, x] * select(z < Z, cost[min(z, Z - 1), y, x], 1)
for k in 0 .. L {
    p[k][z, y, x] = d[k][z, clamp(y, 0, (H - 1) / (1 << k)), clamp(x, 0, (W - 1) / (1 << k))]
}
for k in 1 .. L {
    b[k][z, y, x] = d[k - 1][z, clamp(y, 0, (H - 1) / (1 << (k - 1))), clamp(x, 0, (W - 1) / (1 << (k - 1)))]
    v[k] = down_y(b[k])
    d[k] = down_x(v[k])
}
q[L - 1][z, y, x] = p[L - 1][z, y, x]
for t in 2 .. L + 1 {
    u[L - t] = up_y(q[L - t + 1])
    q[L - t][z, y, x] = (p[L - t][z, y, x] + up_x(u[L - t])[z, y, x]) / 2
}

reduce n in Z
(least[y, x], depth[y, x]) = (highest, 0)
(least[y, x], depth[y, x]) = argmin((q[0][n, y, x] / q[0][Z, y, x], n), (least[y, x], depth[y, x]))

# The disc of a pixel that is out of focus, and the greatest one that may reach a pixel.
reduce e in 0 - R .. R + 1
radius[y, x]  = min(f32(abs(depth[clamp(y, 0, H - 1), clamp(x, 0, W - 1)] - focus)) * scale, f32(R))
tall[y, x]    = 0
tall[y, x] max= radius[y + e, x]
most[y, x]    = 0
most[y, x] max= tall[y, x + e]

# S places of a spiral that covers a disc evenly.
reduce s in S
far[k]  = sqrt((f32(k) + 0.5) / f32(S))
down[k] = far[k] * sin(f32(k) * 2.3999632)
side[k] = far[k] * cos(f32(k) * 2.3999632)

at_y[k, y, x] = clamp(y + i32(round(most[y, x] * down[k])), 0, H - 1)
at_x[k, y, x] = clamp(x + i32(round(most[y, x] * side[k])), 0, W - 1)
seen[k, y, x] = let i = at_y[k, y, x] in let j = at_x[k, y, x] in let distance = square(f32(i - y)) + square(f32(j - x)) in
    select(distance < square(radius[i, j]) and (distance < square(radius[y, x]) or depth[i, j] < depth[y, x]), 1.0, 0.0)
total[c, y, x]  = select(c < 3, f32(left[min(c, 2), y, x]), 1)
total[c, y, x] += seen[s, y, x] * select(c < 3, f32(left[min(c, 2), at_y[s, y, x], at_x[s, y, x]]), 1)
O[c, y, x]      = total[c, y, x] / total[3, y, x]

schedule planes for c, avx2, avx512, arm_dot {
    O.reorder(y, x, c).vectorize(x, 16).unroll(c).parallel(y)
    total.compute_at(O, y).vectorize(x, 16)
    total.update.split(x, xo, xi, 64).reorder(y, xo, s, c, xi).vectorize(xi, 16).unroll(xi).unroll(c)
    seen.compute_at(total.update, xo).vectorize(x, 16)
    at_x.compute_at(total.update, xo).vectorize(x, 8)
    at_y.compute_at(total.update, xo).vectorize(x, 8)
    down.compute_root()
    side.compute_root()
    most.compute_at(O, y).vectorize(x, 16)
    most.update.reorder(y, e, x).vectorize(x, 16)
    tall.compute_at(most.update, y).vectorize(x, 16)
    tall.update.reorder(y, e, x).vectorize(x, 16)
    radius.compute_root().vectorize(x, 16)
    depth.compute_root().vectorize(x, 16).parallel(y)
    depth.update.reorder(y, n, x).vectorize(x, 16).parallel(y)
    q.compute_root().vectorize(x, 16).parallel(y)
    u.compute_root().vectorize(x, 16)
    d.compute_root().vectorize(x, 16).parallel(y)
    v[1 ..].compute_root().vectorize(x, 16)
    sure.compute_root().split(x, xo, xi, 64).vectorize(xi, 16)
    sure_sum.compute_at(sure, xo).vectorize(x, 16)
    sure_sum.update.reorder(y, k_2, x).vectorize(x, 16)
    mean.compute_at(sure, xo).vectorize(x, 16)
    mean_sum.compute_at(mean, y).vectorize(x, 16)
    mean_sum.update.reorder(y, k, x).vectorize(x, 16)
    cost.compute_root().vectorize(x, 16).parallel(y)
}

example { W = 512; H = 384; left = random(1); right = random(2); focus = 10; scale = 0.5 }
