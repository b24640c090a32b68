size   W, H
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
O[y, x] = P[y, x - 1] + P[y, x + 1]

schedule rows for c { O.partition(x) }
