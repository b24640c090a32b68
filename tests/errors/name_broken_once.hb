size N
input A: f3[N]
output B: f32[N]
f[i] = unknown[i]
g[i] = f[i]
B[i] = g[i] + f[i]
