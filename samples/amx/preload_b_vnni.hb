# Matrix product, B loaded ahead of the products; B interleaved by rows as AMX wants it.
#
#     C[i, j] = sum over q, r of T(A[i, g * q + r]) * T(B[q, j, r])
#
# The tiles of B that a step of the sums needs are loaded before its products, and stay while the
# tiles of A pass by: the manual's preloading of the inner loop's tiles, for B.
#
# g rows of B lie interleaved, element by element: two of bf16, four of bytes.
# Bytes: --set TA=u8 --set TB=i8 --set T=i32, and the other three combinations of signs.

type   TA = bf16
type   TB = bf16
type   T = f32
param  g: i32 = 4 / bytes(TA)
size   M, N, K
input  A: TA[M, K]
input  B: TB[K / g, N, g]
output C: T[M, N]
require K % g == 0, "B holds whole groups of rows"

reduce q in K / g, r in g
acc[i, j]  = 0
acc[i, j] += T(A[i, g * q + r]) * T(B[q, j, r])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ib, jb, 32, 32, tail = exact)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(q, qo, qi, 16, tail = exact)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(qo, it, jt, ii, ji, qi, r)
    acc.update.unroll(it).unroll(jt).atomic()
    acc.update.vectorize(ii).vectorize(ji).vectorize(qi).vectorize(r)
    B.in(acc).compute_at(acc.update, qo).store_in(amx_tile).split(j, jt, ji, 16)
    B.in(acc).reorder(jt, q, ji, r).unroll(jt).vectorize(q).vectorize(ji).vectorize(r)
}

# The same with blocks of 6 rows of 16 lanes in vector registers.
schedule lanes for avx512vnni, avx512bf16 {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.reorder(q, i, j, r)
    acc.update.atomic().vectorize(j, 16).vectorize(r).unroll(i).unroll(j)
    B.in(acc).compute_at(acc.update, q).store_in(registers)
    B.in(acc).vectorize(j, 16).vectorize(r).unroll(j)
}

example { M = 64; N = 64; K = 128; A = random(1); B = random(2) }
