# Pixels of three channels, brighter by channel; and the largest of each pixel.
size   H, W
input  I: u8[H, W, 3]
input  gain: f32[3]
output O: u8[H, W, 3]
output M: u8[H, W]

O[y, x, c] = u8(clamp(round(f32(I[y, x, c]) * gain[c]), 0.0, 255.0))
M[y, x]    = max(I[y, x, 0], max(I[y, x, 1], I[y, x, 2]))

example { H = 1024; W = 1024; I = random(1); gain = random(2, 0.5, 2) }
