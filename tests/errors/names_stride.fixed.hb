size A_stride0_
size N
input A: f32[N, A_stride0_]
output C: f32[N, A_stride0_]
C[i, j] = A[i, j] * 2
