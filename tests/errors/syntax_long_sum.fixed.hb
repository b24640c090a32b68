size N
input A: f32[N]
output B: f32[N]
reduce r in 300
B[i] = 0
B[i] += A[i] + 0.0 * f32(r)
