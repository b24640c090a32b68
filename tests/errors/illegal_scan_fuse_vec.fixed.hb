size   N
input  x: f32[N + 1, N + 1]
output y: f32[N + 1, N + 1]
reduce s in 1 .. N + 1, t in 1 .. N + 1
y[i, j] = x[i, j]
y[s, t] = y[s - 1, t] + y[s, t - 1]
schedule s for avx512 {
    y.update.fuse(s, t, f)
}
