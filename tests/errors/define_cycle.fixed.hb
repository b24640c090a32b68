size N
input A: f32[N]
output B: f32[N]
f[i] = g[i] + A[i]
g[i] = h[i]
h[i] = A[i]
B[i] = f[i]
