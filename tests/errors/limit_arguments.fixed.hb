size N
input A: f32[130, N]
output B: f32[N]
B[i] = A[0, i]
