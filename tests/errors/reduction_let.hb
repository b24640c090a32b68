size N, K
input A: f32[N, K]
output O: f32[N]
reduce k in K
O[i] = 0
O[i] += let s = A[i, k] in sum(k: A[i, k] * s)
