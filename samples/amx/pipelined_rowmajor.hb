# Matrix product, the next tiles loaded while these multiply; B row-major.
#
#     C[i, j] = sum over k of T(A[i, k]) * T(B[k, j])
#
# The tiles of the next step are loaded while those of this one are multiplied: the manual's software
# pipelining. Two sums, and twice their three operands, are all eight tiles.
#
# g is how many rows of B an instruction takes at once: two of bf16, four of bytes.
# Bytes: --set TA=u8 --set TB=i8 --set T=i32, and the other three combinations of signs.

type   TA = bf16
type   TB = bf16
type   T = f32
param  g: i32 = 4 / bytes(TA)
size   M, N, K
input  A: TA[M, K]
input  B: TB[K, N]
output C: T[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += T(A[i, k]) * T(B[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ib, jb, 32, 16, tail = exact)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 16 * g, tail = exact)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
    acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
    acc.update.pipeline(ko, 2)
}

# The same with blocks of 6 rows of 16 lanes in vector registers.
schedule lanes for avx512vnni, avx512bf16 {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, g).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 16).vectorize(ki).unroll(i).unroll(j)
    acc.update.pipeline(ko, 2)
}

example { M = 64; N = 64; K = 128; A = random(1); B = random(2) }
