size N, K
input A: f32[N, K]
output O: f32[N]
O[i] = let s = A[i, 0] in sum(k in K: A[i, k] * s)
