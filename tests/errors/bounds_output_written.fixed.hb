size N
input A: f32[N]
output B: f32[2 * N]
reduce r in N
B[i] = 0
B[r + N] += A[r]
