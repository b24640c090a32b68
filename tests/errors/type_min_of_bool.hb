size N
input A: f32[N]
output B: f32[N]
B[i] = select(min(A[i] > 0, true), 1, 2)
