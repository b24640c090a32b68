size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
input  bias: f32[N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j] + bias[j]

example { M = 40; N = 33; K = 2100; A = random(1, -1, 1); B = random(2, -1, 1); bias = random(3) }
