# A filter of four taps that goes backwards, as the second pass of a filter without phase does.
size M, N
input A: i16[M, N + 3]
output B: i16[M, N]
B[y, i] = A[y, N + 2 - i] * 3 + A[y, N + 1 - i] * 5 + A[y, N - i] * 5 + A[y, N - 1 - i] * 3
schedule fast for avx512, avx2, arm_dot { B.vectorize(i, 32) }
