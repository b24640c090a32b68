size N, C
input X: f32[N, C]
output Y: f32[N, C]
reduce t in N
Y[n, c] = X[n, c]
Y[t, c] = 0.5 * Y[t - 1, c] + X[t, c] where t >= 1
schedule s for cuda {
    Y.update.split(c, co, ci, 32).reorder(co, ci, t).gpu_blocks(co).gpu_threads(ci)
}
schedule host for cuda {
    Y.update.split(c, co, ci, 32).reorder(t, co, ci).gpu_blocks(co).gpu_threads(ci)
}
schedule inblock for cuda {
    Y.update.split(c, co, ci, 32).reorder(co, t, ci).gpu_blocks(co).gpu_threads(ci)
}
