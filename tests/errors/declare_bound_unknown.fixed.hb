size N
input A: i32[N]
output B: i32[N]
bound A in 0 .. N
B[i] = A[i]
