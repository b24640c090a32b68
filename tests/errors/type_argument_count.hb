size N
input A: f32[N]
output B: f32[N]
B[i] = clamp(A[i], 0) + exp(A[i], 1) + min(A[i])
