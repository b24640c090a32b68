size N
input A: i32[N]
output O: i32[N]
O[x] = A[N - 1 - x]
O.vectorize(x, 8)
