size   W, H
input  I: f32[H, W]
output O: f32[H, W]
reduce t in 1 .. W
O[y, x] = I[y, x]
O[y, t] = 0.5 * O[y, t - 1] + I[y, t]
schedule s for avx512 {
    O.update.split(t, to, ti, 4).reorder(to, ti)
}
