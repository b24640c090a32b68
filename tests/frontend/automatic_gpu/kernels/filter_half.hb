# Every second pixel of a filter along rows.
size   H, W, T
input  I: f16[H, 2 * W + T - 2]
input  K: f16[T]
output O: f32[H, W]
reduce r in T
acc[y, x]  = 0
acc[y, x] += f32(K[r]) * f32(I[y, 2 * x + r])
O[y, x]    = 2 * acc[y, x]
example { H = 21; W = 300; T = 13; I = random(1); K = random(2) }
