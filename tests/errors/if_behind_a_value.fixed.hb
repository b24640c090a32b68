size N
input A: i32[N]
output O: i32[N]
O[x] = A[select(x > 0, x - 1, 0)]
