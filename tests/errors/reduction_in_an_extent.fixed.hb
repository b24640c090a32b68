size N
input A: f32[N]
output O: f32[N]
O[i] = A[i] + sum(k in N: f32(k))
