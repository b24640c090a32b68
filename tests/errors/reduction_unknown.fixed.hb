size N, K
input A: f32[N, K]
output O: f32[N]
O[i] = sum(k in 0 .. K: A[i, k]) + sum(k in K: A[i, k]) + sum(r in 0 .. N: A[r, 0])
