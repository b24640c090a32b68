# A depthwise layer of a convolutional network on bytes: each channel has a filter of its own.

param  R: i32 = 3
param  S: i32 = 3
param  stride: i32 = 1
param  pad: i32 = 0
size   H, W, C
input  I: u8[H, W, C]
input  F: i8[R, S, C] constant
output O: i32[(H + 2 * pad - R) / stride + 1, (W + 2 * pad - S) / stride + 1, C]
require R <= H + 2 * pad and S <= W + 2 * pad, "the filter is not larger than the padded image"

padded[y, x, c] = zero_edge(I)[y - pad, x - pad, c]

reduce r in R, s in S
acc[y, x, c]  = 0
acc[y, x, c] += i32(padded[y * stride + r, x * stride + s, c]) * i32(F[r, s, c])
O[y, x, c]    = acc[y, x, c]

example { H = 58; W = 58; C = 128; I = random(1); F = random(2) }
