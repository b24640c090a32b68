size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]

reduce k in K, k2 in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
acc[i, j] += f32(A[i, k2]) * f32(B[k2, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
    acc.update(1).tile(i, j, it, jt, ii, ji, 8, 16).split(k2, ko, ki, 32, tail = exact).reorder(ko, it, jt, ii, ji, ki)
    acc.update(1).unroll(it).unroll(jt).atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
