size N, K
input A: f32[N, K]
output O: f32[N]
reduce k in K
t[i, q] = A[i, q]
O[i] = 0
O[i] += sum(q in 0 .. K: A[i, q]) * A[i, k]
