size N
input A: f32[N]
output B: f32[N]
f[i] = A[i]
B[i] = f[clamp(i, 0, N - 1)]
