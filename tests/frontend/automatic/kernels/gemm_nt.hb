# A matrix by the transpose of another, plus a bias, straight into the output's updates.
size   M, N, K
input  A: f32[M, K]
input  B: f32[N, K]
input  b: f32[N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = b[j]
acc[i, j] += A[i, k] * B[j, k]
C[i, j]    = max(acc[i, j], 0)

example { M = 512; N = 512; K = 512; A = random(1, -1, 1); B = random(2, -1, 1); b = random(3, -1, 1) }
