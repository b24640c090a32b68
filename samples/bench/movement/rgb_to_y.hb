# Brightness by the weights of BT.601, in 256ths.
size   M, N
input  A: u8[M, N, 3]
output B: u8[M, N]
B[y, x] = u8((u16(A[y, x, 0]) * 77 + u16(A[y, x, 1]) * 150 + u16(A[y, x, 2]) * 29 + 128) / 256)
schedule fast for avx512, avx2, arm_dot { B.vectorize(x, 64) }
