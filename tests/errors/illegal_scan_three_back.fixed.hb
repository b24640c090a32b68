size T, N
input A: f32[N, T]
output O: f32[N, T]
reduce t in 3 .. T
O[x, s] = A[x, s]
O[x, t] = O[x, t - 3] + A[x, t]
schedule s for avx2 { O.update.vectorize(t, 3) }
