size N
input A: f32[N]
output B: f32[N]
f[i] = A[i]
B[i] = f[i] + 1
