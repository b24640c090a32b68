size H, W
input x: f32[H, W]
output y: f32[H, W]
y[i, j] = x[i, j] * 2
schedule s for avx2, avx512 {
    y.vectorize(j, 8)
}
