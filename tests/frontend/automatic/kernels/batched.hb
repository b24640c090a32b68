# Products of many small matrices.
size   B, M, N, K
input  X: f32[B, M, K]
input  Y: f32[B, K, N]
output Z: f32[B, M, N]

reduce k in K
acc[b, i, j]  = 0
acc[b, i, j] += X[b, i, k] * Y[b, k, j]
Z[b, i, j]    = acc[b, i, j]

example { B = 64; M = 48; N = 48; K = 64; X = random(1, -1, 1); Y = random(2, -1, 1) }
