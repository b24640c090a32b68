size N
input A: f32[N]
output B: f32[N]
B[i] = select(A[i] <= 2, 1, 0)
