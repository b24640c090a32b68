size M, N, Q
require Q == M * N
input A: f32[Q]
output B: f32[M]
B[i] = A[i]
