size   H, W, K
input  I: f32[H, W, K]
output O: f32[H, W, K]
acc[y, x, k] = I[y, x, k] * I[y, x, 0]
O[y, x, k]   = acc[y, x, k] + 1
schedule s for avx512 {
    O.flatten(y, x, k)
}
