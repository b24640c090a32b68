size N
input A: i32[N]
output O: i32[N]
O[x] = A[x] >> 1u
output P: i32[N]
P[x] = O[x] * 2
