size N
input A: f32[N]
output B: f32[N]
hbc 1
B[i] = A[i]
