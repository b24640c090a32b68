# Vectors of three floats, one after the other: each made as long as one.
size M, N
input A: f32[M, N, 3]
output B: f32[M, N, 3]
B[y, i, c] = A[y, i, c] / sqrt(A[y, i, 0] * A[y, i, 0] + A[y, i, 1] * A[y, i, 1] + A[y, i, 2] * A[y, i, 2])
schedule fast for avx512, avx2, arm_dot { B.split(i, io, ii, 16).reorder(y, io, c, ii).vectorize(ii).unroll(c) }
