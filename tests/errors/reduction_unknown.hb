size N, K
input A: f32[N, K]
output O: f32[N]
O[i] = sum(k: A[i, k]) + total(k in K: A[i, k]) + sum(i: A[i, 0])
