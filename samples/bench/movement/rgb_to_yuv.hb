# Y, U and V by the weights of BT.601, in 256ths that 16 bits hold.
size   M, N
input  A: u8[M, N, 3]
output B: u8[3, M, N]
r[y, x]    = i16(A[y, x, 0])
g[y, x]    = i16(A[y, x, 1])
b[y, x]    = i16(A[y, x, 2])
B[c, y, x] = select(c == 0, u8((u16(r[y, x]) * 77 + u16(g[y, x]) * 150 + u16(b[y, x]) * 29 + 128) / 256),
    select(c == 1, u8((b[y, x] * 127 - r[y, x] * 43 - g[y, x] * 84 + 128) / 256 + 128),
    u8((r[y, x] * 127 - g[y, x] * 106 - b[y, x] * 21 + 128) / 256 + 128)))
schedule fast for avx512, avx2, arm_dot { B.split(x, xo, xi, 64).reorder(y, xo, c, xi).vectorize(xi).unroll(c) }
