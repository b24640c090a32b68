size M, N
input A: f32[M, N, 2]
output B: f32[M, N, 2]
B[y, i, c] = select(c == 0, A[y, i, 0] * A[y, i, 0] - A[y, i, 1] * A[y, i, 1], A[y, i, 0] * A[y, i, 1] * 2)
schedule fast for avx512, avx2, arm_dot { B.split(i, io, ii, 16).reorder(y, io, c, ii).vectorize(ii).unroll(c) }
