# Harris corners: gradients, their products summed over 3 x 3 pixels, and a response.
size   H, W
input  I: f32[H, W]
output O: f32[H, W]

P = clamp_edge(I)
Ix[y, x]    = (P[y - 1, x + 1] - P[y - 1, x - 1] + 2 * (P[y, x + 1] - P[y, x - 1]) + P[y + 1, x + 1] - P[y + 1, x - 1]) / 12
Iy[y, x]    = (P[y + 1, x - 1] - P[y - 1, x - 1] + 2 * (P[y + 1, x] - P[y - 1, x]) + P[y + 1, x + 1] - P[y - 1, x + 1]) / 12
Ixx[y, x]   = Ix[y, x] * Ix[y, x]
Iyy[y, x]   = Iy[y, x] * Iy[y, x]
Ixy[y, x]   = Ix[y, x] * Iy[y, x]
hx[y, x]    = Ixx[y, x - 1] + Ixx[y, x] + Ixx[y, x + 1]
hy[y, x]    = Iyy[y, x - 1] + Iyy[y, x] + Iyy[y, x + 1]
hz[y, x]    = Ixy[y, x - 1] + Ixy[y, x] + Ixy[y, x + 1]
Sxx[y, x]   = hx[y - 1, x] + hx[y, x] + hx[y + 1, x]
Syy[y, x]   = hy[y - 1, x] + hy[y, x] + hy[y + 1, x]
Sxy[y, x]   = hz[y - 1, x] + hz[y, x] + hz[y + 1, x]
trace[y, x] = Sxx[y, x] + Syy[y, x]
O[y, x]     = Sxx[y, x] * Syy[y, x] - Sxy[y, x] * Sxy[y, x] - 0.04 * trace[y, x] * trace[y, x]

example { H = 2048; W = 2048; I = random(1) }
