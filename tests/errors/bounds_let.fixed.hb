size N
input A: f32[N]
output B: f32[N]
B[i] = let k = i + 1 in clamp_edge(A)[k]
