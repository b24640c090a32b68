size N
input A: f32[N]
output B: f16[N]
B[i] = A[i]
