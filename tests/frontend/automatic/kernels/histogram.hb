# How many pixels have each value, and their sum so far.
size   H, W
input  I: u8[H, W]
output C: i32[256]

reduce y in H, x in W, v in 1 .. 256
h[i]        = 0
h[I[y, x]] += 1
C[i]        = h[i]
C[v]        = C[v - 1] + h[v]

example { H = 512; W = 512; I = random(1) }
