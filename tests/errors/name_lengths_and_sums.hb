size N
input A: f32[N]
output O: f32[N]
O[i] = len(A) + sum(A) + A[i] ^ 2
