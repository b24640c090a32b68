size N
input A: f32[N]
output C: f32[N]
C[i] = A[i]
