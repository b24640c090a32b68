size N
input A: f32[N]
output B: f32[N]
B[i] = 0
B[i] += A[i]
