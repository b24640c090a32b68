size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]

example { M = 150; N = 141; K = 77; A = random(1); B = random(2) }
