# A 3 x 3 blur in two stages.
size   H, W
input  I: f32[H, W]
output O: f32[H, W]

P = clamp_edge(I)
rows[y, x] = (P[y, x - 1] + P[y, x] + P[y, x + 1]) / 3
O[y, x]    = (rows[y - 1, x] + rows[y, x] + rows[y + 1, x]) / 3

example { H = 2048; W = 2048; I = random(1) }
