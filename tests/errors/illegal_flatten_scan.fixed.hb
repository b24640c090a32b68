size   H, W, K
input  I: f32[H, W, K]
output O: f32[H, W, K]
reduce r in 1 .. W
O[y, x, k] = I[y, x, k]
O[y, r, k] += O[y, r - 1, k]
schedule s for avx512 {
    O.vectorize(k, 16)
}
