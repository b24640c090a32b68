size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 32, 32).gpu_blocks(io, jo)
    C.tile(ii, ji, iw, jw, iv, jv, 16, 16).gpu_threads(iw, jw).vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iv, jv, 16, 16).gpu_threads(iw, jw).vectorize(iv).vectorize(jv)
    acc.update.tile(i, j, iw, jw, iv, jv, 16, 16).split(k, ko, kv, 16).reorder(ko, iw, jw, iv, jv, kv)
    acc.update.gpu_threads(iw, jw).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
}
