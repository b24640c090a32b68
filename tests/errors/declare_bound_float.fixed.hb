size N
input A: f32[N]
output B: f32[N]
B[i] = clamp(A[i], 0, f32(N))
