size N, N
input A: f32[N]
output A: f32[N]
A[i] = 1
