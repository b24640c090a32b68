size N
input A: i32[N]
output B: i32[4]
reduce r in N
B[i] = 0
B[A[r] & 3] += 1
