size M, N
input A: u8[M, N, 3]
output B: u8[3, M, N]
B[c, y, x] = A[y, x, c]
schedule fast for avx512, avx2, arm_dot { B.split(x, xo, xi, 64).reorder(y, xo, c, xi).vectorize(xi).unroll(c) }
