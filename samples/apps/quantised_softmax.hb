# Softmax along rows of bytes: what a byte below the row's greatest counts comes from a table; the results are 0 .. 255 / 256.
size   M, N
input  X: u8[M, N]
input  scale: f32
output Y: u8[M, N]
require 1 <= N

reduce k in N
power[d] = exp(-f32(d) * scale)
top[i]   = max(k: X[i, k])
e[i, j]  = power[clamp(i32(top[i]) - i32(X[i, j]), 0, 255)]
total[i] = sum(k: e[i, k])
Y[i, j]  = u8(min(round(256 * e[i, j] / total[i]), 255))

example { M = 512; N = 1024; X = random(1); scale = 0.05 }
