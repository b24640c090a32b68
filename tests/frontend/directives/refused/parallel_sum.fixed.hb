size   W, H
input  I: f32[H, W]
output O: f32[H]
reduce r in W
O[y] = 0.0
O[y] += I[y, r]
schedule s for avx512 {
    O.update.rfactor(r, u)
    O_u.update.parallel(u)
}
