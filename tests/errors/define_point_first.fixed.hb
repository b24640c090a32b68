size N
input A: f32[N]
output B: f32[N]
B[x] = 0
B[0] = A[0]
