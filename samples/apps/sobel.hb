# The magnitude of the gradient by Sobel's weights, the border repeated.
import "std/image.hb"

size   H, W
input  A: f32[H, W]
output O: f32[H, W]

edge = clamp_edge(A)
P[y, x] = edge[y, x]

O[y, x] = let gx = sobel_x(P)[y, x] in let gy = sobel_y(P)[y, x] in sqrt(gx * gx + gy * gy)

schedule rows for c, avx2, avx512, arm_dot {
    O.split(y, yo, yi, 32, tail = guard).vectorize(x, 16).parallel(yo)
    P.compute_at(O, yo).vectorize(x, 16)
}

example { W = 1920; H = 1080; A = random(1) }
