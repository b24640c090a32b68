size   B, H, M, N, K
input  P: f16[B, H, M, K]
input  Q: f16[B, H, N, K]
output C: f32[B, H, M, N]

reduce k in K
acc[b, h, i, j]  = 0
acc[b, h, i, j] += f32(P[b, h, i, k]) * f32(Q[b, h, j, k])
C[b, h, i, j]    = acc[b, h, i, j] / sqrt(f32(K))

example { B = 2; H = 3; M = 65; N = 70; K = 40; P = random(1); Q = random(2) }
