size N
input A: f32[N]
output B: f32[N]
f[i] = A[i]
P = clamp_edge(f)
B[i] = P[i]
