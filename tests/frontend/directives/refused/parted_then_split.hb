size   W, H
input  I: f32[H, W]
output O: f32[H, W]
O[y, x] = I[y, x] + 1.0
schedule s for avx512 {
    O.partition(x).split(x, xo, xi, 8)
}
