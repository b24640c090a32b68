size H, W
input x: f32[H, W]
output y: f32[H, W]
y[i, j] = x[i, j]
schedule s for avx2 {
    y.vectorize(i, 8).parallel(j)
}
