size M, N
input A: u8[M, N]
output B: u8[N, M]
B[i, j] = A[j, i]
schedule fast for avx512, avx2, arm_dot { B.tile(i, j, io, jo, ii, ji, 16, 32).vectorize(ji).unroll(ii) }
