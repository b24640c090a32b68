size N
input A: i32[N]
output B: i32[N]
B[i] = A[i] / 2
