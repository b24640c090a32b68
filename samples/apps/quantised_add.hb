# The sum of two pictures of bytes, each with its own scale and zero point, as bytes with a third, and ReLU.
import "std/ml.hb"

size   N, C
input  A: u8[N, C]
input  B: u8[N, C]
input  scale_a: f32
input  zero_a: u8
input  scale_b: f32
input  zero_b: u8
input  scale: f32
input  zero: u8
output O: u8[N, C]

O[n, c] = max(quantised_u8(dequantised(A[n, c], scale_a, zero_a) + dequantised(B[n, c], scale_b, zero_b), scale, zero), zero)

example {
    N = 3136; C = 256; A = random(1); B = random(2)
    scale_a = 0.02; zero_a = 128; scale_b = 0.03; zero_b = 120; scale = 0.04; zero = 110
}
