size N
input A: f32[N]
output B: f32[N]
P = clamp_edges(A)
B[i] = P[i - 1]
