size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ib, jb, 32, 32, tail = exact)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 32, tail = exact)
    acc.update.tile(i, j, it, jt, ii, ji, 16, 16).reorder(ko, it, jt, ii, ji, ki)
    acc.update.unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
