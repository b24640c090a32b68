size M, N
input A: f32[M, N]
output B: f32[M]
B[i] = A[i, 0]
