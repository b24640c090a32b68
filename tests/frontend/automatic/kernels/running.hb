# Sums of columns so far, and of rows so far (an integral image).
size   H, W
input  I: f32[H, W]
output S: f32[H, W]

reduce y in 1 .. H, x in 1 .. W
down[i, j] = I[i, j]
down[y, j] = down[y - 1, j] + I[y, j]
S[i, j]    = down[i, j]
S[i, x]    = S[i, x - 1] + down[i, x]

example { H = 1024; W = 1024; I = random(1) }
