size   N, H, W, C, K
input  I: f16[N, H, W, C]
input  F: f16[3, 3, C, K]
input  bias: f32[K]
output O: f16[N, H, W, K]

reduce s in 3, r in 3, c in C
Z = zero_edge(I)
P[n, y, x, c]    = Z[n, y, x, c]
acc[n, y, x, k]  = bias[k]
acc[n, y, x, k] += f32(P[n, y + s - 1, x + r - 1, c]) * f32(F[s, r, c, k])
O[n, y, x, k]    = f16(max(acc[n, y, x, k], 0.0))

example { N = 2; H = 9; W = 21; C = 24; K = 40; I = random(1); F = random(2); bias = random(3) }
