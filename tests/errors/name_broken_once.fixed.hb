size N
input A: f32[N]
output B: f32[N]
f[i] = A[i]
g[i] = f[i]
B[i] = g[i] + f[i]
