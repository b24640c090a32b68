size H, W
input x: f32[H, W]
output y: f32[W]
reduce r in H
c[j, i] = x[i, j]
y[j] = 0
y[j] += c[j, r] * 2
schedule s for avx2 {
    c.compute_root().vectorize(i, 8)
    y.update.vectorize(j, 8)
}
