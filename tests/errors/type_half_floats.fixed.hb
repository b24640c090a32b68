size N
input A: f16[N]
input X: bf16[N]
output B: f32[N]
B[i] = f32(A[i]) + f32(X[i])
