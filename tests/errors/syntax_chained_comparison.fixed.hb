size N
input A: f32[N]
output B: f32[N]
B[i] = select(0 < A[i] and A[i] < 1, 1, 0)
