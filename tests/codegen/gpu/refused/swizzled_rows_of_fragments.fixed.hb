size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 32, 16).tile(ii, ji, iw, jw, iv, jv, 16, 16)
    C.gpu_blocks(io, jo).gpu_threads(iw).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(mma_accumulator)
    acc.split(i, iw, iv, 16).reorder(iw, iv, j).gpu_threads(iw).vectorize(iv).vectorize(j, 16)
    acc.update.split(k, ko, kv, 16).split(i, iw, iv, 16).reorder(ko, iw, iv, j, kv).gpu_threads(iw)
    acc.update.atomic().vectorize(iv).vectorize(j, 16).vectorize(kv)
    A.in(acc).compute_at(acc.update, ko).store_in(shared).swizzle_storage(k)
}
