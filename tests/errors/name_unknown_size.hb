size N
input A: f32[NN]
output B: f32[N]
B[i] = A[i]
