size N
input A: f32[N]
output B: f32[N]
hello world
B[i] = A[i]
