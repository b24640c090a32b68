size N
input A: i32[N]
output O: i32[N]
O[x] = A[x-1 if x > 0 else 0]
