size   H, W
input  I: f32[H, W]
output O: f32[H, W]
twice[y, x] = I[y, x] * 2.0
O[y, x] = twice[y, x]
schedule s for cuda {
    O.tile(y, x, yo, xo, yi, xi, 8, 32, tail = exact).gpu_blocks(yo, xo).gpu_threads(yi, xi)
    twice.compute_at(O, xo).store_in(shared).gpu_threads(x)
}
