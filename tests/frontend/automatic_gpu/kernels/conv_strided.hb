size   N, H, W, C, K
input  I: i8[N, 2 * H + 1, 2 * W + 1, C]
input  F: i8[3, 3, K, C]
output O: i32[N, H, W, K]

reduce s in 3, r in 3, c in C
acc[n, y, x, k]  = 0
acc[n, y, x, k] += i32(I[n, 2 * y + s, 2 * x + r, c]) * i32(F[s, r, k, c])
O[n, y, x, k]    = acc[n, y, x, k]

example { N = 2; H = 9; W = 21; C = 40; K = 24; I = random(1); F = random(2) }
