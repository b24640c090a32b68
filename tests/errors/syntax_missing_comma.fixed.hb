size M, N
output B: f32[M]
B[i] = f32(N)
