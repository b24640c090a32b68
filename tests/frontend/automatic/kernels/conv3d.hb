# A convolution in three dimensions, channels last.
size   D, H, W, C, K
input  I: f32[D + 2, H + 2, W + 2, C]
input  F: f32[3, 3, 3, C, K]
output O: f32[D, H, W, K]

reduce q in 3, s in 3, r in 3, c in C
acc[z, y, x, k]  = 0
acc[z, y, x, k] += F[q, s, r, c, k] * I[z + q, y + s, x + r, c]
O[z, y, x, k]    = acc[z, y, x, k]

example { D = 6; H = 14; W = 14; C = 32; K = 64; I = random(1, -1, 1); F = random(2, -1, 1) }
