size N
input A: f32[N]
output B: f32[N]
reduce r in 3
B[i] = 0
B[i] += clamp_edge(A)[i + r - 1]
