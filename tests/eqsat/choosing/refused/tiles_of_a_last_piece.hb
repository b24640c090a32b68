size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, kk, 64).split(kk, kt, ki, 32).reorder(ko, kt, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
    A.in(acc).compute_at(acc.update, ko).store_in(amx_tile)
    A.in(acc).split(k, kt, kx, 32).reorder(kt, i, kx).unroll(kt).vectorize(i).vectorize(kx)
}
