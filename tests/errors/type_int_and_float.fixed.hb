size N
input A: i32[N]
input X: f32[N]
output B: f32[N]
B[i] = f32(A[i]) * X[i]
