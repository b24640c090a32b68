size M, N
input A: f32[M, N]
output B: f32[N, M]
B[i, j] = A[j, i]
schedule fast for avx512, avx2, arm_dot { B.tile(i, j, io, jo, ii, ji, 16, 16).vectorize(ji).unroll(ii) }
