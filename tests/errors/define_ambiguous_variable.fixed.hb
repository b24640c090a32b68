size M, N
input A: f32[M, N]
output B: f32[M]
reduce i in N
B[x] = 0
B[x] += A[x, 0]
