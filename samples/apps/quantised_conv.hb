# A quantised layer of 3 x 3 pixels: bytes in, with a zero point, filters of signed bytes with a scale for each channel
# of the result, bytes out. Images NHWC, padded beforehand.
import "std/ml.hb"

size   N, H, W, C, K
input  A: u8[N, H + 2, W + 2, C]
input  F: i8[3, 3, C, K] constant
input  bias: i32[K]
input  scale: f32[K]
input  zero_in: u8
input  zero_out: u8
output O: u8[N, H, W, K]

reduce r in 3, s in 3, c in C
acc[n, y, x, k]  = bias[k]
acc[n, y, x, k] += i32(A[n, y + r, x + s, c]) * i32(F[r, s, c, k])
taps[k]          = 0
taps[k]         += i32(F[r, s, c, k])
O[n, y, x, k]    = requantised_u8(acc[n, y, x, k] - i32(zero_in) * taps[k], scale[k], zero_out)

example {
    N = 1; H = 56; W = 56; C = 64; K = 64; A = random(1); F = random(2); bias = random(3, -1000, 1000); scale = random(4, 0.0002, 0.0008)
    zero_in = 128; zero_out = 128
}
