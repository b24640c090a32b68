# A matrix product whose output is summed up in place.
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
C[i, j]  = 0
C[i, j] += A[i, k] * B[k, j]

example { M = 512; N = 512; K = 512; A = random(1, -1, 1); B = random(2, -1, 1) }
