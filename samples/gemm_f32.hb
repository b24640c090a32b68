# Matrix product in single precision.
#
#     C[i, j] = sum over k of A[i, k] * B[k, j]
#
# The fast schedule keeps a block of C in registers while k runs, and a panel of B, packed to the
# width of that block, in the cache while i runs.

size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

schedule portable for c {
    C.tile(i, j, io, jo, ii, ji, 4, 64).parallel(io)
    acc.compute_at(C, jo)
    acc.update.reorder(k, i, j)
}

# 6 x 4 vectors of 16 lanes: 24 accumulators, 4 vectors of B and a broadcast of A.
schedule fast for avx512 {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 16).unroll(i).unroll(j).unroll(k, 2)
    B.in(acc).compute_at(C, jo).vectorize(j, 16).unroll(j)
}

# 6 x 2 vectors of 8 lanes: 12 of the 16 registers.
schedule narrow for avx2 {
    C.tile(i, j, io, jo, ii, ji, 6, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 8).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 8).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 8).unroll(i).unroll(j).unroll(k, 2)
    B.in(acc).compute_at(C, jo).vectorize(j, 8).unroll(j)
}

# 16 sums in registers, of 32: gcc loads the operands of all rows first.
schedule neon for arm_dot {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 4).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 4).unroll(i).unroll(j)
    acc.update.reorder(k, i, j).vectorize(j, 4).unroll(i).unroll(j).unroll(k, 2)
    B.in(acc).compute_at(C, jo).vectorize(j, 4).unroll(j)
}

example { M = 1024; N = 1024; K = 1024; A = random(1, -1, 1); B = random(2, -1, 1) }
