# A vector times weights of 4 bits, two in a byte, in groups of G with a scale and a zero each: y = x W.
size   M, GROUPS
param  G: i32 = 64
input  W: u8[M, GROUPS, G / 2]
input  scale: f32[M, GROUPS]
input  zero: u8[M, GROUPS]
input  x: f32[GROUPS, G]
output y: f32[M]

reduce g in GROUPS, k in G / 2
low[i, g, k]  = f32(W[i, g, k] & 15) - f32(zero[i, g])
high[i, g, k] = f32(W[i, g, k] >> 4) - f32(zero[i, g])
y[i]          = 0
y[i]         += scale[i, g] * (low[i, g, k] * x[g, k] + high[i, g, k] * x[g, k + G / 2])

schedule rows for c, avx2, avx512, arm_dot {
    y.update.parallel(i).rfactor(k, u).atomic().vectorize(k, 16)
    y_u.compute_at(y.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    y_u.update.reorder(i, g, u).vectorize(u, 16).unroll(u)
}

example { M = 1024; GROUPS = 16; W = random(1); scale = random(2); zero = random(3, 0, 16); x = random(4, -1, 1) }
