size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
input  bias: f16[N]
output C: f16[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = f16(max(acc[i, j] + f32(bias[j]), 0))

example { M = 150; N = 141; K = 77; A = random(1); B = random(2); bias = random(3) }
