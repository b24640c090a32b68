size N, K
input A: f32[N, K]
output O: f32[N]
reduce k in K
O[i] = lowest
O[i] max= A[i, k]
