size N
input A: f32[N]
output B: f32[N]
B[i] = A[clamp(N / (i + 1) * (i - 3), 0, N - 1)]
