# The corner response of Harris and Stephens: det(M) - 0.04 trace(M)^2 of the structure tensor over 3x3.
import "std/image.hb"

size   H, W
input  A: f32[H, W]
output O: f32[H - 4, W - 4]
require 5 <= H and 5 <= W, "the response reads two pixels to each side"

def box(f)[y, x] = f[y - 1, x - 1] + f[y - 1, x] + f[y - 1, x + 1] + f[y, x - 1] + f[y, x] + f[y, x + 1]
    + f[y + 1, x - 1] + f[y + 1, x] + f[y + 1, x + 1]

gx[y, x]  = sobel_x(A)[y, x] / 12
gy[y, x]  = sobel_y(A)[y, x] / 12
gxx[y, x] = gx[y, x] * gx[y, x]
gyy[y, x] = gy[y, x] * gy[y, x]
gxy[y, x] = gx[y, x] * gy[y, x]
O[y, x]   = let a = box(gxx)[y + 2, x + 2] in let b = box(gyy)[y + 2, x + 2] in let c = box(gxy)[y + 2, x + 2] in
    a * b - c * c - 0.04 * (a + b) * (a + b)

schedule strips for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32, tail = guard).vectorize(x, 16).parallel(yo)
    gx.store_at(O, yo).compute_at(O, yi).vectorize(x, 16)
    gy.store_at(O, yo).compute_at(O, yi).vectorize(x, 16).compute_with(gx, x)
}

example { W = 1536; H = 1024; A = random(1) }
