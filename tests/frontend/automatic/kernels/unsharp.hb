# Sharpens a picture of three planes: what its blurred brightness lacks is added.
size   H, W
input  I: f32[3, H, W]
output O: f32[3, H, W]

P = clamp_edge(I)
table  k: f32[7] = [0.03, 0.11, 0.22, 0.28, 0.22, 0.11, 0.03]
reduce r in 7, s in 7
gray[y, x]  = 0.299 * P[0, y, x] + 0.587 * P[1, y, x] + 0.114 * P[2, y, x]
down[y, x]  = 0
down[y, x] += k[r] * gray[y + r - 3, x]
blur[y, x]  = 0
blur[y, x] += k[s] * down[y, x + s - 3]
sharp[y, x] = 2 * gray[y, x] - blur[y, x]
ratio[y, x] = sharp[y, x] / gray[y, x]
O[c, y, x]  = ratio[y, x] * I[c, y, x]

example { H = 2048; W = 2048; I = random(1, 0.1, 1) }
