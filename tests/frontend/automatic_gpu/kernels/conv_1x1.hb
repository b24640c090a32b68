size   N, H, W, C, K
input  I: f16[N, H, W, C]
input  F: f16[C, K]
output O: f32[N, H, W, K]

reduce c in C
acc[n, y, x, k]  = 0
acc[n, y, x, k] += f32(I[n, y, x, c]) * f32(F[c, k])
O[n, y, x, k]    = acc[n, y, x, k]

example { N = 2; H = 14; W = 14; C = 64; K = 64; I = random(1); F = random(2) }
