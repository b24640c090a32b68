size H, W
input x: f32[H, W]
output y: f32[W]
reduce r in H
c[j, i] = x[i, j]
y[j] = 0
y[j] += c[j, r] * 2
schedule s for avx2 {
    c.compute_root().vectorize(j, 8).reorder_storage(i, j)
    y.update.vectorize(j, 8)
}
