size N
input A: f32[N]
output O: f32[N]
p[i] = sum(k in 0 .. N: A[k])
O[i] = f32(N) + p[i] + A[i] * A[i]
