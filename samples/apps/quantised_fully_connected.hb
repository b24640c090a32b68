# A quantised fully connected layer: bytes with a zero point times signed bytes, a scale for each column, bytes out.
import "std/ml.hb"

size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N] constant
input  bias: i32[N]
input  scale: f32[N]
input  zero_in: u8
input  zero_out: u8
output O: u8[M, N]

reduce k in K
acc[i, j]  = bias[j]
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
column[j]  = 0
column[j] += i32(B[k, j])
O[i, j]    = requantised_u8(acc[i, j] - i32(zero_in) * column[j], scale[j], zero_out)

example {
    M = 64; N = 1024; K = 1024; A = random(1); B = random(2); bias = random(3, -1000, 1000); scale = random(4, 0.0001, 0.0003)
    zero_in = 128; zero_out = 128
}
