# Weights of 4 bits in groups of 32 with a scale and a zero each, by a vector.
size   M, K
input  W: u4[M, K]
input  scale: bf16[M, (K + 31) / 32]
input  zero: u4[M, (K + 31) / 32]
input  x: f32[K]
output y: f32[M]

reduce k in K
y[i]  = 0
y[i] += (f32(W[i, k]) - f32(zero[i, k / 32])) * f32(scale[i, k / 32]) * x[k]

example { M = 64; K = 256; W = random(1); scale = random(2); zero = random(3); x = random(4, -1, 1) }
