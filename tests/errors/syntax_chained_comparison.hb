size N
input A: f32[N]
output B: f32[N]
B[i] = select(0 < A[i] < 1, 1, 0)
