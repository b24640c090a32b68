size N
input A: f32[N]
output B: f32[N]
B[i] = select(A[i] > 0 and true, 1, 2)
