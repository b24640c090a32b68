# Two numbers of four bits in a byte, the low one first, to a byte each.
size   M, N
input  A: u8[M, N]
output B: i8[M, N, 2]
B[y, x, p] = select(p == 0, i8(A[y, x] & 15), i8(A[y, x] / 16)) - 8
schedule fast for avx512, avx2, arm_dot { B.split(x, xo, xi, 64).reorder(y, xo, p, xi).vectorize(xi).unroll(p) }
