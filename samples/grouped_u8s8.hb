# A grouped layer of a convolutional network on bytes: G groups of channels, each with a layer of its own.

param  R: i32 = 3
param  S: i32 = 3
param  stride: i32 = 1
param  pad: i32 = 0
size   H, W, G, C, K
input  I: u8[H, W, G, C]
input  F: i8[G, R, S, C, K] constant
output O: i32[(H + 2 * pad - R) / stride + 1, (W + 2 * pad - S) / stride + 1, G, K]
require R <= H + 2 * pad and S <= W + 2 * pad, "the filter is not larger than the padded image"

padded[y, x, g, c] = zero_edge(I)[y - pad, x - pad, g, c]

reduce r in R, s in S, c in C
acc[y, x, g, k]  = 0
acc[y, x, g, k] += i32(padded[y * stride + r, x * stride + s, g, c]) * i32(F[g, r, s, c, k])
O[y, x, g, k]    = acc[y, x, g, k]

example { H = 30; W = 30; G = 8; C = 32; K = 32; I = random(1); F = random(2) }
