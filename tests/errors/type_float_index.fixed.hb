size N
input A: f32[N]
output B: f32[N]
B[i] = A[clamp(i64(A[i]), 0, N - 1)]
