# Sharpens a picture: what a Gaussian of 7 taps takes from its luminance is added to it, all colours alike.
import "std/image.hb"

size   H, W
param  sigma: f32 = 1.5
input  A: f32[3, H, W]
output O: f32[3, H, W]

table taps: f32[4] [i] = exp(-f32(i * i) / (2 * sigma * sigma)) / (sqrt(2 * pi) * sigma)
def gaussian_y(f)[y, x] =
    taps[0] * f[y, x] + taps[1] * (f[y - 1, x] + f[y + 1, x]) + taps[2] * (f[y - 2, x] + f[y + 2, x])
    + taps[3] * (f[y - 3, x] + f[y + 3, x])
def gaussian_x(f)[y, x] =
    taps[0] * f[y, x] + taps[1] * (f[y, x - 1] + f[y, x + 1]) + taps[2] * (f[y, x - 2] + f[y, x + 2])
    + taps[3] * (f[y, x - 3] + f[y, x + 3])

edge = clamp_edge(A)

gray[y, x] = luma(edge[0, y, x], edge[1, y, x], edge[2, y, x])
blurred = gaussian_y(gray)
ratio[y, x] = (2 * gray[y, x] - gaussian_x(blurred)[y, x]) / gray[y, x]
O[c, y, x]  = ratio[y, x] * A[c, y, x]

schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32, tail = guard).reorder(yo, yi, c, x).vectorize(x, 8).parallel(yo)
    ratio.compute_at(O, yi).vectorize(x, 8)
    blurred.compute_at(O, yi).vectorize(x, 8)
    gray.store_at(O, yo).compute_at(O, yi).vectorize(x, 8)
}

example { W = 1536; H = 1024; A = random(1, 0.1, 1) }
