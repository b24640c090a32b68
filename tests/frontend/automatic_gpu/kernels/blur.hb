size   H, W
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
rows[y, x] = (P[y, x - 1] + 2 * P[y, x] + P[y, x + 1]) / 4
O[y, x]    = (rows[y - 1, x] + 2 * rows[y, x] + rows[y + 1, x]) / 4
example { H = 65; W = 70; I = random(1) }
