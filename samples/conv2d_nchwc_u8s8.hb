# A layer of a convolutional network on bytes in blocks of channels (NCHWc, one image): `inside` channels
# lie next to each other, and C and K count blocks of them. The filter has 4 of a block's channels innermost.

param  R: i32 = 3
param  S: i32 = 3
param  stride: i32 = 1
param  pad: i32 = 0
param  inside: i32 = 16
size   H, W, C, K
input  I: u8[C, H, W, inside]
input  F: i8[K, C, R, S, inside / 4, inside, 4] constant
output O: i32[K, (H + 2 * pad - R) / stride + 1, (W + 2 * pad - S) / stride + 1, inside]
require R <= H + 2 * pad and S <= W + 2 * pad, "the filter is not larger than the padded image"

padded[b, y, x, c] = zero_edge(I)[b, y - pad, x - pad, c]

reduce b in C, r in R, s in S, c in inside / 4, e in 4
acc[n, y, x, k]  = 0
acc[n, y, x, k] += i32(padded[b, y * stride + r, x * stride + s, c * 4 + e]) * i32(F[n, b, r, s, c, k, e])
O[n, y, x, k]    = acc[n, y, x, k]

example { H = 16; W = 16; C = 8; K = 8; I = random(1); F = random(2) }
