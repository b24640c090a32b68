# A layer of a convolutional network on bytes, one image NHWC, with `pad` zeros around it:
#
#     O[y, x, k] = sum over r < R, s < S, c < C of i32(I[y * stride + r - pad, x * stride + s - pad, c]) * i32(F[r, s, c, k])

param  R: i32 = 3
param  S: i32 = 3
param  stride: i32 = 1
param  pad: i32 = 0
size   H, W, C, K
input  I: u8[H, W, C]
input  F: i8[R, S, C, K] constant
output O: i32[(H + 2 * pad - R) / stride + 1, (W + 2 * pad - S) / stride + 1, K]
require R <= H + 2 * pad and S <= W + 2 * pad, "the filter is not larger than the padded image"

padded[y, x, c] = zero_edge(I)[y - pad, x - pad, c]

reduce r in R, s in S, c in C
acc[y, x, k]  = 0
acc[y, x, k] += i32(padded[y * stride + r, x * stride + s, c]) * i32(F[r, s, c, k])
O[y, x, k]    = acc[y, x, k]

example { H = 16; W = 16; C = 128; K = 128; I = random(1); F = random(2) }
