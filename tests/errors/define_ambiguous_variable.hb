size M, N
input A: f32[M, N]
output B: f32[M]
reduce i in N
B[i] = 0
B[i] += A[i, 0]
