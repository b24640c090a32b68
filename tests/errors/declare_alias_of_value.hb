size N
input A: f32[N]
output B: f32[N]
P = 3
B[i] = A[i]
