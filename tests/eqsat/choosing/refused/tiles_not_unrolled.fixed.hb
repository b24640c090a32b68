type   TA = bf16
type   TB = bf16
type   T = f32
param  rows: i32 = 2      # of tiles in a block
param  columns: i32 = 2
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
    C.tile(i, j, io, jo, ib, jb, 16 * rows, 16 * columns, tail = exact)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 16 * g, tail = exact)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
    acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
