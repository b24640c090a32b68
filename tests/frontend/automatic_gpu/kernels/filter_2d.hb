# A filter of several images: bands of taps on tensor cores.
size   N, H, W, T
input  I: bf16[N, H + T - 1, W + T - 1]
input  K: bf16[T, T]
output O: bf16[N, H, W]
reduce s in T, r in T
acc[n, y, x]  = 0
acc[n, y, x] += f32(I[n, y + s, x + r]) * f32(K[s, r])
O[n, y, x]    = bf16(acc[n, y, x])
example { N = 2; H = 21; W = 300; T = 11; I = random(1); K = random(2) }
