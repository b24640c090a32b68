size N
input A: f32[N]
output O: f32[sum(k in N: k)]
O[i] = A[i]
