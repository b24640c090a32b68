size N
input A: f32[N]
output B: f32[N]
f[x] = clamp_edge(A)[x]
g[x] = f[x - 1] + f[x + 1]
B[i] = g[i]
