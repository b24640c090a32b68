# The magnitude of the gradient by Sobel's weights, the border repeated.
import "std/image.hb"

size   H, W
input  A: f32[H, W]
output O: f32[H, W]

edge = clamp_edge(A)

O[y, x] = let gx = sobel_x(edge)[y, x] in let gy = sobel_y(edge)[y, x] in sqrt(gx * gx + gy * gy)

schedule rows for c, avx2, avx512, arm_dot { O.vectorize(x, 16).parallel(y) }

example { W = 1920; H = 1080; A = random(1) }
