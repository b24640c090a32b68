size T, N
input A: f32[N]
output O: f32[N]
reduce t in 1 .. T, x in 1 .. N - 1
z[s, i] = A[clamp(i, 0, N - 1)]
z[t, x] = (z[t - 1, x - 1] + z[t - 1, x] + z[t - 1, x + 1]) / 3
O[i] = z[T - 1, i]
schedule s for avx2 {
    z.update.vectorize(x, 8)
}
