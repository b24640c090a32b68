size N
input A: f32[N]
output B: f32[N]
B[i] = clamp(A[i], 0, 1) + exp(A[i]) + min(A[i], 1)
