size N
input A: f32[N]
output C: f32[N, N]
C[i, j] = A[i]
