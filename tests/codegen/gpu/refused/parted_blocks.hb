size   H, W
input  I: f32[H, W]
output O: f32[H, W]
O[y, x] = I[y, x] + 1.0
schedule s for cuda {
    O.split(x, xo, xi, 64).gpu_blocks(y, xo).gpu_threads(xi).partition(y)
}
