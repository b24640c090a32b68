size M, N
input A: f32[M, N]
output B: f32[M, N]
reduce r in N
B[i, j] = 0
B[i, j] += A[i, j]
