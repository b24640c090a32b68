size A_stride0
size N
input A: f32[N, A_stride0]
output C: f32[N, A_stride0]
C[i, j] = A[i, j] * 2
