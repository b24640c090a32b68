size   H, W
input  I: f32[H, W]
output O: f32[H, W]
once[y, x] = I[y, x] + 1.0
twice[y, x] = once[y, x] * once[y, x]
O[y, x] = twice[y, x] + once[y, x]
schedule s for cuda {
    O.tile(y, x, yo, xo, yi, xi, 32, 128).gpu_blocks(yo, xo).gpu_threads(xi)
    once.compute_at(O, xo)
    twice.compute_at(O, xo)
}
