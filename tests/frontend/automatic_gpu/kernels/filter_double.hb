# An image twice as high and wide: taps of each phase.
size   H, W, T
input  I: f16[(H + 1) / 2 + (T - 1) / 2, (W + 1) / 2 + (T - 1) / 2]
input  K: f16[T, T]
output O: f32[H, W]
reduce s in (T + 1) / 2, r in (T + 1) / 2
taps[i, j, p, q]   = zero_edge(K)[2 * i + p, 2 * j + q]
phase[y, x, p, q]  = 0
phase[y, x, p, q] += f32(taps[s, r, p, q]) * f32(I[y + s, x + r])
O[y, x]            = phase[y / 2, x / 2, y % 2, x % 2]
example { H = 21; W = 600; T = 11; I = random(1); K = random(2) }
