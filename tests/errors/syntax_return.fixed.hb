size N
input A: f32[N]
output B: f32[N]
output O: f32[N]
O[i] = A[i] + 1
B[i] = A[i]
