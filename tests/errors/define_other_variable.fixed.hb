size N
input A: f32[N]
output B: f32[N]
reduce r in N
B[i] = 0
B[i] += A[i]
