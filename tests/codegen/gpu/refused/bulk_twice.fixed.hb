size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 64).split(ii, iw, iv, 64)
    C.gpu_blocks(io, jo).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, jo).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, ki, 64).split(ki, kt, kv, 16).split(i, iw, iv, 64)
    acc.update.reorder(ko, iw, kt, iv, j, kv).gpu_threads(iw).pipeline(ko, 3)
    acc.update.unroll(kt).atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(k, 8).copy_in_bulk()
    B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8)
}
