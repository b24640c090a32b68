# Local Laplacian filters (Paris, Hasinoff, Kautz 2011) of the luminance: a Gaussian pyramid for each of K
# intensities, remapped around it; the Laplacian pyramid of the result is interpolated between them.
import "std/image.hb"

size   H, W
param  J: i32 = 8
param  K: i32 = 8
param  alpha: f32 = 0.125
param  beta: f32 = 1
input  A: f32[H, W]
output O: f32[H, W]

def remap(v, level)   = let t = (v - level) * f32(K - 1) in beta * (v - level) + level + alpha * t * exp(-t * t / 2)
def half3(f)[k, y, x] =
    (f[k, 2 * y, 2 * x] + f[k, 2 * y, 2 * x + 1] + f[k, 2 * y + 1, 2 * x] + f[k, 2 * y + 1, 2 * x + 1]) / 4
def twice3(f)[k, y, x] = (3 * f[k, y / 2, x / 2] + f[k, (y + 1) / 2, (x + 1) / 2]) / 4

edge = clamp_edge(A)
i[0][y, x]    = edge[y, x]
g[0][k, y, x] = remap(i[0][y, x], f32(k) / f32(K - 1))
for l in 1 .. J {
    g[l] = half3(g[l - 1])
    i[l] = half(i[l - 1])
}

p[J - 1][k, y, x] = g[J - 1][k, y, x]
for l in 0 .. J - 1 { p[l][k, y, x] = g[l][k, y, x] - twice3(g[l + 1])[k, y, x] }

for l in 0 .. J {
    o[l][y, x] = let v = clamp(i[l][y, x], 0, 1) * f32(K - 1) in let c = clamp(i32(v), 0, K - 2) in
        (1 - (v - f32(c))) * p[l][c, y, x] + (v - f32(c)) * p[l][c + 1, y, x]
}

r[J - 1][y, x] = o[J - 1][y, x]
for t in 2 .. J + 1 { r[J - t][y, x] = twice(r[J - t + 1])[y, x] + o[J - t][y, x] }
O[y, x] = r[0][y, x]

# Of the finest level only the rows that the next one asks for are stored; O computes the two values that it
# interpolates between once more.
schedule levels for c, avx2, avx512, arm_dot {
    O.parallel(y).vectorize(x, 8, tail = guard)
    g[0].in(g[1]).compute_at(g[1], y).vectorize(x, 16)
    g[1 ..].compute_root().vectorize(x, 16)
    i.compute_root().vectorize(x, 16)
    r[1 ..].compute_root()
}

example { W = 1536; H = 1024; A = random(1) }
