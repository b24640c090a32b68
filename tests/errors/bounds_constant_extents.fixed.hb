input A: f32[16]
output B: f32[32]
B[i] = clamp_edge(A)[i]
