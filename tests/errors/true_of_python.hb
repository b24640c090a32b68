size N
input A: i32[N]
output O: bool[N]
O[x] = A[x] > 3 or True
