size N
input A: f32[N]
output B: f32[N]
B[i] = select(A[i] and true, 1, 2)
