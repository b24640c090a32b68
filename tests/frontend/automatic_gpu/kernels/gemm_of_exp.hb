size   M, N, K
input  X: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
weight[i, l] = exp(X[i, l])
acc[i, j]    = 0
acc[i, j]   += weight[i, k] * B[k, j]
C[i, j]      = acc[i, j]

example { M = 50; N = 41; K = 37; X = random(1, -1, 1); B = random(2) }
