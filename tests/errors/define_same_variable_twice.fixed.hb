size N
input A: f32[N, N]
output B: f32[N, N]
B[x, y] = 0
reduce i in N
B[i, i] = A[i, i]
