size H, W
input x: f32[H, W]
output y: f32[H, W]
y[i, j] = x[i, j]
schedule s for avx2 {
    y.vectorise(i, 8).parallel(jj)
    y.parallel(kk, 4)
}
