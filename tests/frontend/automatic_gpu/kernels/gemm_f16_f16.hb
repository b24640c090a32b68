size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f16[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f16(A[i, k]) * f16(B[k, j])
C[i, j]    = acc[i, j]

example { M = 150; N = 141; K = 77; A = random(1); B = random(2) }
