size N
input A: f32[N]
output B: f32[N]
A[i] = 1
B[i] = A[i]
