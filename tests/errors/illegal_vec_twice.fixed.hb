size   H, W
input  I: f32[H + 2, W + 2]
output O: f32[H, W]
rows[y, x] = I[y, x] + I[y + 1, x] + I[y + 2, x]
O[y, x]    = rows[y, x] + rows[y, x + 1] + rows[y, x + 2]
schedule s for avx512 {
    O.split(x, xo, xi, 16).split(xi, xm, xv, 8).vectorize(xv).unroll(xm)
}
