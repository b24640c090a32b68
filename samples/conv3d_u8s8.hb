# A layer of a convolutional network for videos or volumes, on bytes, with `pad` zeros around them:
#
#     O[z, y, x, k] = sum over q < Q, r < R, s < S, c < C of i32(I[z, y, x .. at stride, c]) * i32(F[q, r, s, c, k])

param  Q: i32 = 3
param  R: i32 = 3
param  S: i32 = 3
param  stride: i32 = 1
param  pad: i32 = 0
size   D, H, W, C, K
input  I: u8[D, H, W, C]
input  F: i8[Q, R, S, C, K] constant
output O: i32[(D + 2 * pad - Q) / stride + 1, (H + 2 * pad - R) / stride + 1, (W + 2 * pad - S) / stride + 1, K]
require Q <= D + 2 * pad and R <= H + 2 * pad and S <= W + 2 * pad, "the filter is not larger than the padded image"

padded[z, y, x, c] = zero_edge(I)[z - pad, y - pad, x - pad, c]

reduce q in Q, r in R, s in S, c in C
acc[z, y, x, k]  = 0
acc[z, y, x, k] += i32(padded[z * stride + q, y * stride + r, x * stride + s, c]) * i32(F[q, r, s, c, k])
O[z, y, x, k]    = acc[z, y, x, k]

example { D = 16; H = 16; W = 16; C = 64; K = 64; I = random(1); F = random(2) }
