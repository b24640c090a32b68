size N
input A: f32[N, N]
output B: f32[N, N]
B[i, j] = 0
B[i, j] += A[i, j]
