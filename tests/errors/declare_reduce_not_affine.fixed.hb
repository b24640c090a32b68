size M, N
input A: f32[M]
output B: f32[N]
reduce r in M, s in N
B[i] = 0
B[i] += f32(r * N + s)
