size N, M
input Q: i32[N]
input A: f32[M]
output B: f32[N]
B[i] = A[clamp(Q[i], 0, M - 1)]
