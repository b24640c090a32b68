size   N, C
input  x: f32[N, C]
output y: f32[N, C]
reduce t in 1 .. N
y[i, c] = x[i, c]
y[t, c] = x[t, c] + 0.5 * y[t - 1, c]
schedule s for avx512 {
    y.update.vectorize(c, 8)
}
